import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** SHA-256 of a text's UTF-8 bytes, 64 hex digits in lower case, in plain JavaScript. */
export function portableSha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** Node's own SHA-256 of a text, some six times as fast; browsers and their stand-ins for `process` have none. */
const native = (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.("node:crypto")?.hash;

/** As `portableSha256Hex`, by the platform where it has such a function. */
export const sha256Hex: (text: string) => string = native ? (text) => native("sha256", text) : portableSha256Hex;
