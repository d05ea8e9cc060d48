export { base64ToBytes, bytesToBase64 } from "./base64.ts";
export { sha256Hex } from "./sha256.ts";
