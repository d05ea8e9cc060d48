import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex as portableBytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 as portableBase64 } from "@scure/base";

/** Node's own functions are several times as fast as plain JavaScript; browsers and their stand-ins for `process` have none. */
const builtin = (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule;
const nodeBuffer = builtin?.("node:buffer")?.Buffer;
const nodeHash = builtin?.("node:crypto")?.hash;

type Sha256Hex = (data: string | Uint8Array) => string;

/** SHA-256 of bytes, or of a text's UTF-8 bytes, 64 hex digits in lower case, in plain JavaScript. */
export const portableSha256Hex: Sha256Hex = (data) =>
  portableBytesToHex(sha256(typeof data === "string" ? utf8ToBytes(data) : data));

/** As `portableSha256Hex`, by the platform where it has such a function. */
export const sha256Hex: Sha256Hex = nodeHash ? (data) => nodeHash("sha256", data) : portableSha256Hex;

/** Bytes as hex digits in lower case, two a byte. */
export const bytesToHex: (bytes: Uint8Array) => string = nodeBuffer
  ? (bytes) => nodeBuffer.from(bytes).toString("hex")
  : portableBytesToHex;

/** Base64 with padding (RFC 4648, section 4). What is decoded must be known to be base64: platforms differ on the rest. */
export const base64: { encode(bytes: Uint8Array): string; decode(text: string): Uint8Array } = nodeBuffer
  ? {
      encode: (bytes) => nodeBuffer.from(bytes).toString("base64"),
      decode: (text) => new Uint8Array(nodeBuffer.from(text, "base64")),
    }
  : portableBase64;
