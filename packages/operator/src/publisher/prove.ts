import type { UserID } from "keyroot/identity";
import { parseMerkleFile } from "keyroot/merkle";
import { verifyRecord, verifyRoot } from "keyroot/verifier";
import type { FetchFile } from "./files/files.ts";
import type { Batch, PlanTarget } from "./plan/plan.ts";

/** What the chain says of a batch's users. */
export interface Settled {
  batch: Batch;
  /** Who has the batch's root. */
  userIDs: UserID[];
  /** Who had another root first: it stands, and their record in the batch's file is in its shadow. */
  shadowed: { userID: UserID; root: string }[];
}

/** @param roots the users' roots, in their order; each has one */
export function settledOf(batch: Batch, roots: readonly (string | undefined)[]): Settled {
  const userIDs: UserID[] = [];
  const shadowed: Settled["shadowed"] = [];
  for (const [i, userID] of batch.userIDs.entries()) {
    const root = roots[i];
    if (root === batch.root) userIDs.push(userID);
    else if (root !== undefined) shadowed.push({ userID, root });
  }
  return { batch, userIDs, shadowed };
}

/**
 * Judges the key of every user of a batch as every client's verifier does: the root that the contract keeps for the user,
 * the file that clients are served, its whole tree, the user's one record and the key in it.
 * @throws VerificationError as `verifyPublicKey`; TransportError
 */
export async function proveBatch(
  { chainId, contract }: PlanTarget,
  { batch: { root, fileBytes }, userIDs }: Settled,
  fetchFile: FetchFile,
): Promise<void> {
  if (userIDs.length === 0) return;
  const file = parseMerkleFile(await fetchFile(root, fileBytes), root);
  const answers = { chainId: `0x${chainId.toString(16)}`, codeHash: undefined, root: `0x${root}` };
  for (const userID of userIDs) {
    const question = { userID, chainId, contract };
    verifyRoot(question, answers, { anchor: "endpoint", storageProof: false });
    verifyRecord(question, root, file);
  }
}
