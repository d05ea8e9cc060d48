import { VerificationError } from "../errors.ts";
import type { BlockHeader } from "../ethereum/header.ts";
import { extractProof, verifyStorageProof } from "../ethereum/storageProof.ts";
import { slotOfUser } from "../registry/slots.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { requestProof } from "./requestProof.ts";
import type { RootQuery } from "./options.ts";
import type { RootAnswers } from "./rootByCall.ts";

/**
 * Reads a user's root from the contract's storage, with a proof (EIP-1186) against the block's state root. If the query
 * has a `nextSlotID`, one request proves the roots of both slots.
 * @param hash the hash of the block, 0x and 64 lowercase hex digits
 * @param header the block's header, or the request for it
 * @param usersSlot the storage slot of the contract's mapping from users to roots
 */
export async function readRootByStorageProof(
  { userID, nextSlotID, contract }: RootQuery,
  call: RpcCall,
  hash: string,
  header: BlockHeader | Promise<BlockHeader>,
  usersSlot: number,
): Promise<RootAnswers> {
  const userIDs = nextSlotID === undefined ? [userID] : [userID, nextSlotID];
  const slots = userIDs.map((id) => slotOfUser(id, usersSlot));
  const proof = requestProof(call, contract, slots, hash);
  const [{ stateRoot }, chainId, answer] = await Promise.all([header, call("eth_chainId", []), proof]);
  const [proven, next] = slots.map((slot, i) => verifyStorageProof(stateRoot, contract, slot, extractProof(answer, i)));
  const nextRoot = nextSlotID === undefined ? {} : { nextRoot: next?.value ?? "0x" };
  return { chainId, root: proven?.value ?? "0x", codeHash: proven?.codeHash, ...nextRoot };
}

/**
 * Checks that the contract has no root for a user whose storage slot is empty. A contract with a different storage
 * layout may keep the root in another slot. The empty slot would then prove nothing.
 * @param root the value of the slot, 0x and 64 hex digits
 * @param callForRoot calls `getMerkleTreeRoot` at the same block
 */
export async function confirmEmptySlot(
  { userID }: RootQuery,
  usersSlot: number,
  root: unknown,
  callForRoot: () => Promise<string>,
): Promise<void> {
  if (typeof root !== "string" || !/^0x0+$/.test(root)) return;
  const actual = await callForRoot();
  if (actual === root) return;
  const message = `The proof of slot ${usersSlot} shows no root for the user ${userID}, but the contract returns ${actual}. The contract is not a PublicKeyRegistry.`;
  throw new VerificationError("root", "PROOF_INVALID", message, { expected: root, actual });
}
