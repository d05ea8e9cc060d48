export { base64, base64ToBytes, bytesToBase64 } from "../bytes/base64.ts";
export { bytesToHex } from "../bytes/hex.ts";
export { randomBytes } from "../bytes/randomBytes.ts";
export { sha256Hex } from "../bytes/sha256.ts";
