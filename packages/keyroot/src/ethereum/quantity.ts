import { invalidAnswer } from "./invalidAnswer.ts";

/** 0x and 1 to 64 hex digits. JSON-RPC forbids leading zeros, but some nodes write them. */
const QUANTITY = /^0x[0-9a-f]{1,64}$/i;

/** Encodes a number as a JSON-RPC quantity: 0x and hex digits, without leading zeros (Ethereum JSON-RPC, "Hex value encoding"). */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** Parses a JSON-RPC quantity of at most 256 bits. @throws TransportError RPC_ANSWER_INVALID */
export function parseQuantity(value: unknown): bigint {
  if (typeof value === "string" && QUANTITY.test(value)) return BigInt(value);
  throw invalidAnswer("a quantity (0x and 1 to 64 hex digits)", value);
}

/** Parses a JSON-RPC quantity below 2^53. @throws TransportError RPC_ANSWER_INVALID */
export function parseSafeQuantity(value: unknown): number {
  const number = Number(parseQuantity(value));
  if (Number.isSafeInteger(number)) return number;
  throw invalidAnswer("a quantity below 2^53", value);
}
