import { invalidAnswer } from "./invalidAnswer.ts";

/** An address in canonical form: 0x and 40 lowercase hex digits. */
export const LOWERCASE_ADDRESS = /^0x[0-9a-f]{40}$/;

/** Whether a value is an address: 0x and 40 hex digits in either case. Does not verify checksums (EIP-55). */
export function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value);
}

/** Parses an address and returns it in lower case. @throws TransportError RPC_ANSWER_INVALID */
export function toAddress(value: unknown): string {
  if (isAddress(value)) return value.toLowerCase();
  throw invalidAnswer("an address (0x and 40 hex digits)", value);
}
