import { _SHA256 } from "@noble/hashes/sha2.js";
import { encodeUtf8 } from "../engine/utf8.ts";
import { portableBytesToHex } from "./hex.ts";
import { builtinModule } from "./builtinModule.ts";

const nodeHash = builtinModule("node:crypto")?.hash;

/** Computes SHA-256 of bytes or of a text in UTF-8, in plain JavaScript. @returns 64 lowercase hex digits */
export const portableSha256Hex = (data: string | Uint8Array): string =>
  portableBytesToHex(new _SHA256().update(typeof data === "string" ? encodeUtf8(data) : data).digest());

/**
 * Computes SHA-256 of bytes or of a text in UTF-8, with Node's function if there is one.
 * @returns 64 lowercase hex digits
 */
export const sha256Hex: typeof portableSha256Hex = nodeHash ? (data) => nodeHash("sha256", data) : portableSha256Hex;
