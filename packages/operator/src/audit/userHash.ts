import { randomFillSync } from "node:crypto";
import { USER_ID_BYTES } from "keyroot/internal/identity";

/** Hashes the 20-byte user id at a position in a byte array. @returns 32 bits */
export type UserHash = (bytes: Uint8Array, at: number) => number;

/** The number of 16-bit words in a user id. */
const WORDS = USER_ID_BYTES / 2;

/**
 * Creates a hash function for user ids with a random key. If the key were known, an operator could choose user ids with
 * equal hashes. Each half of the hash is a strongly universal multiply-shift hash, so two ids have the same half with a
 * probability of 2^-16. Source: Dietzfelbinger 1996, "Universal hashing and k-wise independent random variables".
 */
export function makeUserHash(): UserHash {
  const [high, low] = [randomFillSync(new Int32Array(WORDS + 1)), randomFillSync(new Int32Array(WORDS + 1))];
  return (bytes, at) => {
    let [a, b] = [high[WORDS] ?? 0, low[WORDS] ?? 0];
    for (let i = 0; i < WORDS; i++) {
      const word = ((bytes[at + 2 * i] ?? 0) << 8) | (bytes[at + 2 * i + 1] ?? 0);
      a = (a + Math.imul(high[i] ?? 0, word)) | 0;
      b = (b + Math.imul(low[i] ?? 0, word)) | 0;
    }
    return ((a & 0xffff0000) | (b >>> 16)) >>> 0;
  };
}
