import { describeValue } from "../input/describeValue.ts";
import { TransportError, VerificationError } from "../errors.ts";
import type { BlockHeader } from "../ethereum/header.ts";
import { isHash } from "../ethereum/hash.ts";
import { extractProof, verifyStorageProof } from "../ethereum/storageProof.ts";
import { encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import { slotOfUser } from "../registry/slotOfUser.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { EvidencePolicy, KeyQuery } from "./options.ts";
import { type ChainAnswers, requestAnswers } from "./rootReading.ts";

/**
 * Requests a user's root at a block from one endpoint, with a storage proof if the policy requires one.
 * @throws VerificationError PROOF_INVALID, step "root"; TransportError RPC_ANSWER_INVALID, and as the call
 */
export async function requestAnswersAt(
  block: BlockHeader,
  call: RpcCall,
  query: KeyQuery,
  { storageProof, usersSlot }: EvidencePolicy,
): Promise<ChainAnswers> {
  const { userID, contract } = query;
  const at = { blockHash: block.hash };
  if (!storageProof) return requestAnswers(query, call, (data) => callContractAt(block, call, contract, data), at);
  const slot = slotOfUser(userID, usersSlot);
  const [chainId, proof] = await Promise.all([call("eth_chainId", []), call("eth_getProof", [contract, [slot], at])]);
  const proven = verifyStorageProof(block.stateRoot, contract, slot, extractProof(proof));
  if (proven !== undefined && /^0x0+$/.test(proven.value)) {
    // The proof is about one slot. A contract with another layout has the root in another slot.
    const actual = await callContractAt(block, call, contract, encodeGetMerkleTreeRoot(userID));
    if (isHash(actual) && actual !== proven.value) {
      const message = `The proof of slot ${usersSlot} shows no root for the user ${userID}, but the contract returns ${actual}. Set usersSlot to the contract's slot: 2 in PublicKeyRegistry, 1 in PubKeyTrust.`;
      throw new VerificationError("root", "PROOF_INVALID", message, { expected: proven.value, actual });
    }
  }
  return { chainId, root: proven?.value ?? "0x", codeHash: proven?.codeHash };
}

/**
 * Calls the contract at a block (EIP-1898).
 * @returns the answer in lower case, so that equal answers are equal texts
 * @throws TransportError RPC_ANSWER_INVALID, and as the call
 */
export async function callContractAt(
  { hash }: BlockHeader,
  call: RpcCall,
  contract: string,
  data: string,
): Promise<string> {
  const answer = await call("eth_call", [{ to: contract, data }, { blockHash: hash }]);
  if (typeof answer === "string") return answer.toLowerCase();
  const message = `The endpoint's answer to eth_call must be text, but is ${describeValue(answer)}.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { actual: describeValue(answer) });
}

/** @throws VerificationError STALE_BLOCK, step "anchor" */
export function checkAge({ number, timestamp }: BlockHeader, { maxAgeMs }: EvidencePolicy, now: () => number): void {
  const age = now() - timestamp * 1000;
  if (maxAgeMs === undefined || age <= maxAgeMs) return;
  const message = `The block ${number} is ${Math.round(age / 1000)} s old, the maximum age is ${maxAgeMs / 1000} s.`;
  throw new VerificationError("anchor", "STALE_BLOCK", message, { expected: maxAgeMs, actual: age });
}
