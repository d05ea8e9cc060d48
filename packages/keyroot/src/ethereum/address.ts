import { invalidAnswer } from "./invalidAnswer.ts";

/** An address: 0x and 40 hex digits in either case. Does not include a checksum (EIP-55). */
export const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** An address in canonical form: 0x and 40 lowercase hex digits. */
export const LOWERCASE_ADDRESS = /^0x[0-9a-f]{40}$/;

/** Parses an address and returns it in lower case. @throws TransportError RPC_ANSWER_INVALID */
export function toAddress(value: unknown): string {
  if (typeof value === "string" && ADDRESS.test(value)) return value.toLowerCase();
  throw invalidAnswer("an address (0x and 40 hex digits)", value);
}
