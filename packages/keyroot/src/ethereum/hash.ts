import { invalidAnswer } from "./invalidAnswer.ts";

/** A hash of 32 bytes in canonical form: 0x and 64 lowercase hex digits. */
export const LOWERCASE_HASH = /^0x[0-9a-f]{64}$/;

/** Whether a value is a hash of 32 bytes: 0x and 64 hex digits in either case. */
export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);
}

/** Parses a hash of 32 bytes and returns it in lower case. @throws TransportError RPC_ANSWER_INVALID */
export function toHash(value: unknown): string {
  if (isHash(value)) return value.toLowerCase();
  throw invalidAnswer("a hash (0x and 64 hex digits)", value);
}
