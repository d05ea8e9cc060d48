import { sha256Hex } from "keyroot/internal/bytes";
import { parseMerkleFile } from "keyroot/internal/merkle";
import { VerificationError } from "../../errors.ts";
import {
  type ChainReading,
  divideByRoot,
  type DividedUsers,
  type FetchFile,
  proveRecords,
} from "../../follow/index.ts";
import type { Batch, PlanTarget } from "../plan/plan.ts";

/** The users of a batch with proven keys, and the users with a different root. */
export type ProvenBatch = Pick<DividedUsers, "userIDs" | "superseded">;

/**
 * Proves the keys of a batch's users as a client's verifier does. It checks the chain id, the users' roots and the
 * served file with its whole tree. Each user must have exactly one record, with a valid key. The root is the hash of
 * all records, so the served keys are then the keys of the plan.
 *
 * A file is not verified again if its bytes are the same as in an earlier verification.
 * @param target the registry and chain of the plan
 * @param reading the endpoint's responses
 * @param verifiedSha256 the SHA-256 of a file that was already verified, in 64 lowercase hex digits. This file must
 *   have the batch's root, and exactly one record per user of the batch. Undefined if no file was verified
 * @throws VerificationError CHAIN_ID_MISMATCH, NOT_PUBLISHED for a user without a root, USER_NOT_IN_FILE, and the
 *   errors of `parseMerkleFile` and `checkKeyRecord`; TransportError, and the errors of `fetchFile`
 */
export async function proveBatch(
  { root, fileBytes, userIDs: batchUserIDs }: Batch,
  target: PlanTarget,
  reading: ChainReading,
  fetchFile: FetchFile,
  verifiedSha256?: string,
): Promise<ProvenBatch> {
  const { userIDs, superseded, unpublished } = divideByRoot(root, batchUserIDs, target, reading);
  const [missing] = unpublished;
  if (missing !== undefined) {
    const message = `The contract ${target.contract} has no root for the user ${missing}. Publish again.`;
    throw new VerificationError("root", "NOT_PUBLISHED", message, { expected: "a root", actual: "zero" });
  }
  if (userIDs.length === 0) return { userIDs, superseded };
  const bytes = await fetchFile(root, fileBytes);
  if (verifiedSha256 === undefined || sha256Hex(bytes) !== verifiedSha256)
    proveRecords(root, userIDs, target, parseMerkleFile(bytes, root, reading.keyType));
  return { userIDs, superseded };
}
