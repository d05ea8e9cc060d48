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
  return (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
}

/** Decodes base64. Accepts only canonical base64 (RFC 4648, section 3.5). @throws ArgumentError BASE64_INVALID */
export function base64ToBytes(text: string): Uint8Array {
  base64ByteLength(text);
  return base64.decode(text);
}
