import type { UserID } from "../identity/userID.ts";

/** The number of hex digits of a hash in a leaf chunk. */
export const HASH_DIGITS = 64;
/** The number of hex digits (4 bytes) for the first leaf's position, and for the number of leaves. */
export const COUNT_DIGITS = 8;
/** Maximum size of a leaf chunk in bytes. If user ids are evenly distributed, a chunk has at most 3 kB. */
export const MAX_CHUNK_BYTES = 2 ** 16;

/** Maximum average number of leaves per chunk. With several chunks, the average is at least half of this number. */
const AVERAGE_LEAVES = 32;
/** The digits of user ids in byte order. The records in a file have the same order. */
const DIGITS = "13456789abcdefghijkmnopqrstuwxyz";

/**
 * Returns the number of the chunk that contains a user's leaf. The chunk number consists of the first bits of the user
 * id. Chunk numbers have the order of a file's records.
 * @param leafCount the number of leaves in the whole tree
 */
export function chunkNumber(userID: UserID, leafCount: number): number {
  let [bits, number] = [0, 0];
  while (AVERAGE_LEAVES * 2 ** bits < leafCount) bits++;
  // Each digit has five bits. In the largest tree, the chunk number has 15 bits.
  for (const digit of userID.slice(0, 3)) number = number * 32 + DIGITS.indexOf(digit);
  return number >> (15 - bits);
}
