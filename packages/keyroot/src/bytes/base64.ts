import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { base64 } from "./platform.ts";

/** Encodes bytes as base64 with padding (RFC 4648, section 4). */
export function bytesToBase64(bytes: Uint8Array): string {
  return base64.encode(bytes);
}

/** Decodes canonical base64 (RFC 4648, section 3.5) and rejects any other text. @throws ArgumentError BASE64_INVALID */
export function base64ToBytes(text: unknown): Uint8Array {
  const bytes = typeof text === "string" ? base64.decode(text) : undefined;
  if (bytes !== undefined) return bytes;
  const message = `Expected canonical base64 with padding, got ${describeValue(text)}.`;
  throw new ArgumentError("BASE64_INVALID", message, { actual: text });
}
