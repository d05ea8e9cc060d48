import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { base64 } from "./platform.ts";

/** Bytes as base64 with padding (RFC 4648, section 4). */
export function bytesToBase64(bytes: Uint8Array): string {
  return base64.encode(bytes);
}

/** Without a repeated group: on a text of many millions of characters that would exhaust the stack. */
const DIGITS = /^[A-Za-z0-9+/]*={0,2}$/;
/** Padded to four characters, and the bits that the last digit does not need are zero. */
const LAST_GROUP = /^(?:|[^=]{4}|[^=][AQgw]==|[^=]{2}[AEIMQUYcgkosw048]=)$/;

/**
 * How many bytes a text in base64 stands for. Only the one canonical spelling is taken (RFC 4648, section 3.5).
 * @throws ArgumentError BASE64_INVALID
 */
export function base64ByteLength(text: unknown): number {
  if (typeof text !== "string" || text.length % 4 !== 0 || !DIGITS.test(text) || !LAST_GROUP.test(text.slice(-4))) {
    const message = `${describeValue(text)} is not base64 in its canonical form.`;
    throw new ArgumentError("BASE64_INVALID", message, { actual: text });
  }
  return (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
}

/** Decodes base64, in its canonical spelling only. @throws ArgumentError BASE64_INVALID */
export function base64ToBytes(text: string): Uint8Array {
  base64ByteLength(text);
  return base64.decode(text);
}
