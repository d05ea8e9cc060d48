import { fetchBlock, fetchBlockByHash } from "../ethereum/blocks.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { EvidencePolicy, KeyQuery } from "./options.ts";
import { readRootByQuorum } from "./quorum.ts";
import { callContractAt, checkAge, requestAnswersAt } from "./requestAtBlock.ts";
import type { RootReading } from "./rootReading.ts";

/**
 * Reads a user's root at one block: finds the block that the policy requires, recomputes its hash from its header, and
 * requests the contract's answer at that block, with a storage proof if required.
 * @param calls the endpoints; several only for a quorum
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, STALE_BLOCK, QUORUM_NOT_REACHED, step "anchor";
 * PROOF_INVALID, step "root"
 * @throws TransportError as the endpoints; QUORUM_NOT_REACHED if too few of them answer and no answer is false
 */
export async function readRootAtBlock(
  query: KeyQuery,
  policy: EvidencePolicy,
  calls: readonly RpcCall[],
  now: () => number,
): Promise<RootReading> {
  const { anchor, storageProof, tag } = policy;
  if (typeof anchor === "object" && "quorum" in anchor) {
    return readRootByQuorum(query, policy, calls, anchor.quorum, now);
  }
  const [call] = calls;
  if (call === undefined) throw new RangeError("There is no endpoint to call.");
  const block =
    typeof anchor === "object" ? await fetchBlockByHash(call, anchor.blockHash) : await fetchBlock(call, tag);
  checkAge(block, policy, now);
  const answers = await requestAnswersAt(block, call, query, policy);
  const { hash, number, timestamp } = block;
  const name = typeof anchor === "object" ? "pinned" : anchor;
  return {
    answers,
    evidence: { anchor: name, storageProof, block: { hash, number, timestamp } },
    agreed: [[0]],
    callContract: (data) => callContractAt(block, call, query.contract, data),
  };
}
