import { _SHA256 } from "@noble/hashes/sha2.js";
import { encodeUtf8 } from "../engine/utf8.ts";

/**
 * Node's function for loading its built-in modules. It is undefined in browsers. Node's functions are several times
 * faster than plain JavaScript.
 */
const builtin = (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule;
const nodeBuffer = builtin?.("node:buffer")?.Buffer;
const nodeHash = builtin?.("node:crypto")?.hash;

/** SHA-256 of a text in UTF-8, as 64 lowercase hex digits. */
export type Sha256Hex = (text: string) => string;

/** Encodes bytes as lowercase hex in plain JavaScript. */
const portableBytesToHex = (bytes: Uint8Array): string => {
  let hex = "";
  for (const byte of bytes) hex += (256 + byte).toString(16).slice(1);
  return hex;
};

/** SHA-256 of bytes, or of a text in UTF-8, as 64 lowercase hex digits. In plain JavaScript. */
export const portableSha256Hex = (data: string | Uint8Array): string =>
  portableBytesToHex(new _SHA256().update(typeof data === "string" ? encodeUtf8(data) : data).digest());

/** SHA-256 of bytes, or of a text in UTF-8, as 64 lowercase hex digits. Uses Node's function if there is one. */
export const sha256Hex: typeof portableSha256Hex = nodeHash ? (data) => nodeHash("sha256", data) : portableSha256Hex;

/** Encodes bytes as lowercase hex. */
export const bytesToHex: (bytes: Uint8Array) => string = nodeBuffer
  ? (bytes) => nodeBuffer.from(bytes).toString("hex")
  : portableBytesToHex;

/** Decodes lowercase or uppercase hex in plain JavaScript. */
export const portableHexToBytes = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
};

/** Decodes lowercase or uppercase hex. Validate the text first, because platforms treat invalid text differently. */
export const hexToBytes: (hex: string) => Uint8Array = nodeBuffer
  ? (hex) => new Uint8Array(nodeBuffer.from(hex, "hex"))
  : portableHexToBytes;

interface Coder {
  encode: (bytes: Uint8Array) => string;
  /** @returns undefined if the text is not canonical base64 (RFC 4648, section 3.5) */
  decode: (text: string) => Uint8Array | undefined;
}

/** Matches base64 digits and padding. A repeated group would exhaust the stack on a text of many million characters. */
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
      // A byte array stores only the lowest 8 bits of a number.
      if ((count += 6) >= 8) bytes[at++] = bits >> (count -= 8);
    }
    return portableBase64.encode(bytes) === text ? bytes : undefined;
  },
};

/** Base64 with padding. Uses Node's functions if they exist. */
export const base64: Coder = nodeBuffer
  ? {
      encode: (bytes) => nodeBuffer.from(bytes).toString("base64"),
      decode: (text) => {
        // Node ignores invalid characters. To detect them, encode the decoded bytes again and compare.
        const bytes = nodeBuffer.from(text, "base64");
        return bytes.toString("base64") === text ? new Uint8Array(bytes) : undefined;
      },
    }
  : portableBase64;
