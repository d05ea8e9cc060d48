import { toQuantity } from "keyroot/internal/ethereum";
import { sha256Hex } from "keyroot/internal/bytes";
import { ANY_KEY, type KeyType, type UserID } from "keyroot/internal/identity";
import { parseMerkleFile } from "keyroot/internal/merkle";
import { ZERO_ROOT } from "keyroot/internal/registry";
import { type Evidence, verifyRecord, verifyRoot } from "keyroot/internal/verifier";
import type { UserRoot } from "../chain/registry.ts";
import type { FetchFile } from "../files/fetchFile.ts";
import type { Batch, PlanTarget } from "../plan/plan.ts";

/** The endpoint's responses about a batch at a final block. */
export interface ChainReading {
  /** The type of the registry's keys. Undefined for `curve41417`. */
  keyType?: KeyType | undefined;
  /** The chain id that the endpoint reported. */
  chainId: number;
  /**
   * The roots of the batch's users, in the order of the batch. Each root is 64 lowercase hex digits, or undefined for a
   * user without a root.
   */
  roots: readonly (string | undefined)[];
}

/** The users of a batch with proven keys, and the users with a different root. */
export interface ProvenBatch {
  /** The users who have the root of the batch. */
  userIDs: UserID[];
  /** The users who have a different root. Another publisher was faster, and the contract keeps the first root. */
  superseded: UserRoot[];
}

const EVIDENCE: Evidence = { source: "one-endpoint", storageProof: false };

/**
 * Proves the keys of a batch's users with the same checks as a client's verifier. The function checks the chain id, the
 * users' roots, and the served file with its whole tree. The function also checks that each user has exactly one
 * record, with a valid key. The root is the hash of all records, so the served keys are the plan's keys. The function
 * does not verify a file again if the bytes are the same as in an earlier verification.
 * @param target the registry and chain of the plan
 * @param reading the endpoint's responses
 * @param verifiedSha256 the SHA-256 of a file that was verified for this root: 64 lowercase hex digits. The file has
 * exactly one record per user of the batch. Undefined if no file was verified
 * @throws VerificationError CHAIN_ID_MISMATCH, NOT_PUBLISHED for a user without a root, USER_NOT_IN_FILE, and the
 * errors of `parseMerkleFile` and `checkKeyRecord`; TransportError, and the errors of `fetchFile`
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
    // Reuse the last result. The result depends only on the response, which is the same for nearly all users.
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
  const file = parseMerkleFile(bytes, batchRoot, reading.keyType);
  for (const userID of proven.userIDs)
    verifyRecord({ userID, chainId, contract, expectedPublicKey: ANY_KEY }, batchRoot, file);
  return proven;
}
