import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { base64, isBase64 } from "./platform.ts";

/** Encodes bytes as base64 with padding (RFC 4648, section 4). */
export function bytesToBase64(bytes: Uint8Array): string {
  return base64.encode(bytes);
}

/**
 * The number of bytes that a base64 text encodes. Accepts only canonical base64 (RFC 4648, section 3.5).
 * @throws ArgumentError BASE64_INVALID
 */
export function base64ByteLength(text: unknown): number {
  if (typeof text !== "string" || !isBase64(text)) {
    const message = `Expected canonical base64 with padding, got ${describeValue(text)}.`;
    throw new ArgumentError("BASE64_INVALID", message, { actual: text });
  }
  // A digit has 6 bits. Bits that make no whole byte are zero.
  return (text.replace(/=/g, "").length * 3) >> 2;
}

/** Decodes base64. Accepts only canonical base64 (RFC 4648, section 3.5). @throws ArgumentError BASE64_INVALID */
export function base64ToBytes(text: string): Uint8Array {
  base64ByteLength(text);
  return base64.decode(text);
}
