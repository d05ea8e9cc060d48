import { TransportError } from "../errors.ts";
import { describeValue } from "../input/values.ts";

/** Makes the RPC_ANSWER_INVALID error for an endpoint's malformed response. */
export function invalidAnswer(expected: string, actual: unknown): TransportError {
  const description = describeValue(actual);
  const message = `The endpoint must return ${expected}, but returned ${description}.`;
  return new TransportError("RPC_ANSWER_INVALID", message, { expected, actual: description });
}

/**
 * A JSON-RPC quantity: 0x and 1 to 64 hex digits. JSON-RPC forbids leading zeros, but they are accepted here, because
 * some nodes write them.
 */
const QUANTITY = /^0x[0-9a-f]{1,64}$/i;

/** Encodes a number as a JSON-RPC quantity: hex without leading zeros (Ethereum JSON-RPC, "Hex value encoding"). */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** Parses a JSON-RPC quantity of at most 256 bits. @throws TransportError RPC_ANSWER_INVALID */
export function parseQuantity(value: unknown): bigint {
  return BigInt(checkQuantity(value));
}

/** Parses a JSON-RPC quantity below 2^53. @throws TransportError RPC_ANSWER_INVALID */
export function parseSafeQuantity(value: unknown): number {
  // This does not use BigInt, because Hermes converts BigInts from 2^63 on to wrong numbers. For example, 2^64 - 5
  // becomes -5.
  const number = Number(checkQuantity(value));
  if (Number.isSafeInteger(number)) return number;
  throw invalidAnswer("a quantity below 2^53", value);
}

function checkQuantity(value: unknown): string {
  if (typeof value === "string" && QUANTITY.test(value)) return value;
  throw invalidAnswer("a quantity (0x and 1 to 64 hex digits)", value);
}

/** A 32-byte hash in canonical form: 0x and 64 lowercase hex digits. */
export const LOWERCASE_HASH = /^0x[0-9a-f]{64}$/;

/** Checks whether a value is a 32-byte hash: 0x and 64 hex digits in either case. */
export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);
}

/** An address, 0x and 40 hex digits in either case. The checksum (EIP-55) is not checked. */
export const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
