import { hexToBytes } from "../../bytes/hex.ts";
import { randomBytes } from "../../bytes/randomBytes.ts";
import { sha256Hex } from "../../bytes/sha256.ts";
import { checkLength, type KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

/**
 * The key type for documents that the app distributes itself, such as a list of devices, a hybrid key or a post-quantum
 * key. The registered key is the document's SHA-256, so any 32 bytes are valid. An app that receives a document must
 * compare its hash with the verified key.
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
