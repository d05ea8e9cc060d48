/**
 * Encodes transactions of the types with access lists (EIP-2718, EIP-2930, EIP-1559). It does not use ethers, because
 * the RLP encoder of ethers takes quadratic time: minutes for an access list of thousands of slots.
 */
import { keccak256 } from "ethers/crypto";
import { recoverAddress, type Transaction } from "ethers/transaction";
import { getBytes, toBeArray } from "ethers/utils";
import { encodeRlp } from "keyroot/internal/ethereum";

/** Returns the bytes that an account signs: 0x and lowercase hex digits. */
export function serializeUnsigned(transaction: Transaction): string {
  return serialize(transaction, []) ?? transaction.unsignedSerialized;
}

/** Returns the bytes of a signed transaction: 0x and lowercase hex digits. */
export function serializeSigned(transaction: Transaction): string {
  const { signature } = transaction;
  if (signature === null) throw new Error("The transaction is not signed.");
  const { yParity, r, s } = signature;
  return serialize(transaction, [toBeArray(yParity), toBeArray(r), toBeArray(s)]) ?? transaction.serialized;
}

/** Returns the account that signed a transaction: 0x and 40 hex digits with checksum (EIP-55). */
export function senderOf(transaction: Transaction): string | undefined {
  const { signature } = transaction;
  return signature === null ? undefined : recoverAddress(keccak256(serializeUnsigned(transaction)), signature);
}

/** @returns undefined for a type without an access list, and for types that the publisher never sends */
function serialize(transaction: Transaction, signature: Uint8Array[]): string | undefined {
  const { type, chainId, nonce, gasPrice, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data } = transaction;
  if (type !== 1 && type !== 2) return undefined;
  const fees = type === 1 ? [gasPrice] : [maxPriorityFeePerGas, maxFeePerGas];
  const accessList = (transaction.accessList ?? []).map(({ address, storageKeys }) => {
    return [getBytes(address), storageKeys.map((key) => getBytes(key))];
  });
  const body = encodeRlp([
    ...[chainId, nonce, ...fees.map((fee) => fee ?? 0n), gasLimit].map((number) => toBeArray(number)),
    ...[to === null ? new Uint8Array() : getBytes(to), toBeArray(value), getBytes(data), accessList],
    ...signature,
  ]);
  return `0x0${type}${Buffer.from(body).toString("hex")}`;
}
