import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/values.ts";
import { builtinModule } from "./builtinModule.ts";

const nodeBuffer = builtinModule("node:buffer")?.Buffer;

/** Bytes that are a `BufferSource` in every version of TypeScript. Before 5.7, `Uint8Array` has no type parameter. */
export type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;

interface Coder {
  encode: (bytes: Uint8Array) => string;
  /** @returns undefined if the text is not canonical base64 (RFC 4648, section 3.5) */
  decode: (text: string) => Bytes | undefined;
}

/** Matches base64 digits and padding. A repeated group would exhaust the stack for texts of millions of characters. */
const DIGITS = /^[A-Za-z0-9+/]*={0,2}$/;

/** The 64 digits of base64 in order (RFC 4648, section 4). */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base64 with padding (RFC 4648, section 4) in plain JavaScript, because some engines do not have `atob`. */
export const portableBase64: Coder = {
  encode: (bytes) => {
    let text = "";
    let [bits, count] = [0, 0];
    for (const byte of bytes) {
      bits = (bits << 8) | byte;
      for (count += 8; count >= 6;) text += ALPHABET.charAt((bits >> (count -= 6)) & 63);
    }
    if (count > 0) text += ALPHABET.charAt((bits << (6 - count)) & 63);
    return text.padEnd(4 * Math.ceil(bytes.length / 3), "=");
  },
  decode: (text) => {
    if (text.length % 4 !== 0 || !DIGITS.test(text)) return undefined;
    const bytes = new Uint8Array((text.replace(/=/g, "").length * 3) >> 2);
    let [at, bits, count] = [0, 0, 0];
    for (let i = 0; at < bytes.length; i++) {
      bits = (bits << 6) | ALPHABET.indexOf(text.charAt(i));
      // The higher bits have no effect, because a byte array stores only the lowest 8 bits of each number.
      if ((count += 6) >= 8) bytes[at++] = bits >> (count -= 8);
    }
    return portableBase64.encode(bytes) === text ? bytes : undefined;
  },
};

/** Base64 with padding. Uses Node's functions if these functions exist. */
export const base64: Coder = nodeBuffer
  ? {
      encode: (bytes) => nodeBuffer.from(bytes).toString("base64"),
      decode: (text) => {
        // Node ignores invalid characters. To detect them, the decoded bytes are encoded again, and the texts are
        // compared.
        const bytes = nodeBuffer.from(text, "base64");
        return bytes.toString("base64") === text ? new Uint8Array(bytes) : undefined;
      },
    }
  : portableBase64;

/** Encodes bytes as base64 with padding (RFC 4648, section 4). */
export function bytesToBase64(bytes: Uint8Array): string {
  return base64.encode(bytes);
}

/** Decodes canonical base64 (RFC 4648, section 3.5) and rejects any other text. @throws ArgumentError BASE64_INVALID */
export function base64ToBytes(text: unknown): Bytes {
  const bytes = typeof text === "string" ? base64.decode(text) : undefined;
  if (bytes !== undefined) return bytes;
  const message = `The text must be base64 with padding, + and / instead of - and _, and no spaces, but is ${describeValue(text)}.`;
  throw new ArgumentError("BASE64_INVALID", message, { actual: text });
}
