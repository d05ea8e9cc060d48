import { toQuantity } from "keyroot/ethereum";
import { sha256Hex } from "keyroot/bytes";
import { ANY_KEY, type UserID } from "keyroot/identity";
import { parseMerkleFile } from "keyroot/merkle";
import { ZERO_ROOT } from "keyroot/registry";
import { type Evidence, verifyRecord, verifyRoot } from "keyroot/verifier";
import type { UserRoot } from "../chain/registry.ts";
import type { FetchFile } from "../files/fetchFile.ts";
import type { Batch, PlanTarget } from "../plan/plan.ts";

/** The endpoint's answers about a batch at a final block. */
export interface ChainReading {
  /** The endpoint's chain id at that time. */
  chainId: number;
  /** The batch's users' roots, in their order: 64 lowercase hex digits, or undefined for a user without a root. */
  roots: readonly (string | undefined)[];
}

/** The users of a batch whose keys are proven, and those who got another root first. */
export interface ProvenBatch {
  /** Users with the batch's root. */
  userIDs: UserID[];
  /** Users with another root. Another publisher was faster, and the contract keeps the first root. */
  superseded: UserRoot[];
}

const EVIDENCE: Evidence = { anchor: "endpoint", storageProof: false };

/**
 * Proves the keys of a batch's users with the checks of every client's verifier: the chain id and the root that the chain's
 * endpoint answered, the file that clients are served with its whole tree, the user's single record, and its key. That it
 * is the key of the plan's record follows from the root, which is the hash of all records. The verdict on a file
 * depends on its bytes alone, so the same bytes are not verified twice.
 * @param target the registry and chain that the plan is for
 * @param reading the endpoint's answers
 * @param verifiedSha256 the SHA-256 of bytes that were verified under this root: they have one record of each user of the
 * batch, and no other. 64 lowercase hex digits; undefined if none were
 * @throws VerificationError CHAIN_ID_MISMATCH, NOT_PUBLISHED for a user without a root, USER_NOT_IN_FILE, and as
 * `parseMerkleFile` and `checkKeyRecord`; TransportError, and as `fetchFile`
 */
export async function proveBatch(
  { root: batchRoot, fileBytes, userIDs }: Batch,
  { chainId, contract }: PlanTarget,
  reading: ChainReading,
  fetchFile: FetchFile,
  verifiedSha256?: string,
): Promise<ProvenBatch> {
  const proven: ProvenBatch = { userIDs: [], superseded: [] };
  const answeredChainId = toQuantity(reading.chainId);
  let last: { answer: string | undefined; root: string } | undefined;
  for (const [i, userID] of userIDs.entries()) {
    const answer = reading.roots[i];
    // The verdict depends on the answer alone, which is the same for nearly all users.
    if (last === undefined || answer !== last.answer) {
      const answers = { chainId: answeredChainId, codeHash: undefined, root: `0x${answer ?? ZERO_ROOT}` };
      last = { answer, root: verifyRoot({ userID, chainId, contract }, answers, EVIDENCE) };
    }
    const { root } = last;
    if (root === batchRoot) proven.userIDs.push(userID);
    else proven.superseded.push({ userID, root });
  }
  if (proven.userIDs.length === 0) return proven;
  const bytes = await fetchFile(batchRoot, fileBytes);
  if (verifiedSha256 !== undefined && sha256Hex(bytes) === verifiedSha256) return proven;
  const file = parseMerkleFile(bytes, batchRoot);
  for (const userID of proven.userIDs)
    verifyRecord({ userID, chainId, contract, expectedPublicKey: ANY_KEY }, batchRoot, file);
  return proven;
}
