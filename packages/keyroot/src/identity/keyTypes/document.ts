import { hexToBytes } from "../../bytes/hex.ts";
import { randomBytes } from "../../bytes/randomBytes.ts";
import { sha256Hex } from "../../bytes/sha256.ts";
import { checkLength, type KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

/**
 * The SHA-256 of a document that the app distributes itself, such as a list of devices, a hybrid key or a post-quantum
 * key. Any 32 bytes are valid. The app must compare the hash of the document that it receives with the verified key.
 */
export const document: KeyType = {
  ...ROWS.document,
  check(bytes) {
    checkLength(bytes, document);
  },
};

/** Generates a key pair for samples and tests. */
export function generate() {
  const text = randomBytes(64);
  return { publicKey: hexToBytes(sha256Hex(text)), privateKey: text };
}
