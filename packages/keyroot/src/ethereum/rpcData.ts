import { ADDRESS, invalidAnswer, isHash } from "./rpcValues.ts";

/** Checks whether a value is bytes in JSON-RPC encoding: 0x and two hex digits per byte, in either case. */
export function isData(value: unknown): value is string {
  return typeof value === "string" && value.length % 2 === 0 && /^0x[0-9a-f]*$/i.test(value);
}

/** Parses a 32-byte hash, and returns the hash in lower case. @throws TransportError RPC_ANSWER_INVALID */
export function toHash(value: unknown): string {
  if (isHash(value)) return value.toLowerCase();
  throw invalidAnswer("a hash (0x and 64 hex digits)", value);
}

/** An address in canonical form: 0x and 40 lowercase hex digits. */
export const LOWERCASE_ADDRESS = /^0x[0-9a-f]{40}$/;

/** Parses an address, and returns the address in lower case. @throws TransportError RPC_ANSWER_INVALID */
export function toAddress(value: unknown): string {
  if (typeof value === "string" && ADDRESS.test(value)) return value.toLowerCase();
  throw invalidAnswer("an address (0x and 40 hex digits)", value);
}
