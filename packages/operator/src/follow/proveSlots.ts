import { VerificationError } from "keyroot/internal/errors";
import { type BlockHeader, extractProof, parseSafeQuantity, verifyStorageProof } from "keyroot/internal/ethereum";
import type { UserID } from "keyroot/internal/identity";
import { isObject } from "keyroot/internal/input";
import { slotOfBlockNumber, slotOfUser, USERS_SLOT, ZERO_ROOT } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";

/** The number of storage slots in one request. The proof of a slot has about 4,000 bytes. */
const SLOTS_PER_PROOF = 50;

/**
 * Reads users' roots with storage proofs.
 * @throws VerificationError PROOF_INVALID, NO_CONTRACT; TransportError the errors of `call`
 */
export async function proveRoots(
  call: RpcCall,
  contract: string,
  userIDs: readonly UserID[],
  block: BlockHeader,
): Promise<(string | undefined)[]> {
  const slots = userIDs.map((userID) => slotOfUser(userID, USERS_SLOT));
  const roots: (string | undefined)[] = [];
  for (let i = 0; i < slots.length; i += SLOTS_PER_PROOF)
    for (const value of await proveSlots(call, contract, slots.slice(i, i + SLOTS_PER_PROOF), block)) {
      const root = value.slice(2);
      roots.push(root === ZERO_ROOT ? undefined : root);
    }
  return roots;
}

/**
 * Reads the block number that the contract recorded for a root, with a storage proof.
 * @throws VerificationError PROOF_INVALID, NO_CONTRACT; TransportError the errors of `call`
 */
export async function proveBlockNumber(
  call: RpcCall,
  contract: string,
  root: string,
  block: BlockHeader,
): Promise<number> {
  const [value] = await proveSlots(call, contract, [slotOfBlockNumber(root)], block);
  return parseSafeQuantity(value);
}

/**
 * Reads storage slots of the contract with storage proofs. Each slot and value is 0x and 64 hex digits.
 * @throws the errors of `proveRoots`
 */
export async function proveSlots(
  call: RpcCall,
  contract: string,
  slots: readonly string[],
  { hash, stateRoot }: BlockHeader,
): Promise<string[]> {
  const answer = await call("eth_getProof", [contract, slots, { blockHash: hash }]);
  const { accountProof, storageProof } = isObject(answer) ? answer : {};
  return slots.map((slot, i) => {
    const proof: unknown = Array.isArray(storageProof) ? storageProof[i] : undefined;
    const proven = verifyStorageProof(stateRoot, contract, slot, extractProof({ accountProof, storageProof: [proof] }));
    if (proven !== undefined) return proven.value;
    throw new VerificationError(
      "root",
      "NO_CONTRACT",
      `There is no contract at ${contract}. Check the address and the chain.`,
      { actual: "0x" },
    );
  });
}
