import type { UserID } from "../identity/userID.ts";

/** The maximum size of a chunk in bytes. Ids that are spread evenly need 3 kB. */
export const MAX_CHUNK_BYTES = 2 ** 16;

/** A chunk has at most as many leaves on average, and at least half as many in a tree with more than one chunk. */
const AVERAGE_LEAVES = 32;
/** The digits of user ids in byte order, which is the order of a file's records. */
const DIGITS = "13456789abcdefghijkmnopqrstuwxyz";

/**
 * The number of the chunk with a user's leaf: the first bits of the id, read in the order of a file's records.
 * @param leafCount the number of leaves in the whole tree
 */
export function chunkNumber(userID: UserID, leafCount: number): number {
  let [bits, number] = [0, 0];
  while (AVERAGE_LEAVES * 2 ** bits < leafCount) bits++;
  // Five bits each. The largest tree has chunks of 15 bits.
  for (const digit of userID.slice(0, 3)) number = number * 32 + DIGITS.indexOf(digit);
  return number >> (15 - bits);
}
