import { ArgumentError, VerificationError } from "../errors.ts";
import type { KeyType } from "../identity/keyTypes/keyType.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { MerkleTree } from "./tree.ts";

/** The content of a Merkle-tree file: one record per user, in the order of the leaves. */
export interface MerkleFile {
  /** The exact texts of the records, whose hashes are the leaves. */
  values: readonly string[];
  /** The parsed records of `values`. */
  records: readonly KeyRecord[];
  /** The index of each user's record in `values`. */
  lookup: ReadonlyMap<UserID, number>;
  tree: MerkleTree;
  /** The type of the keys, as the caller configured it. */
  keyType: KeyType;
}

/**
 * Makes a file from values and the corresponding records.
 * @param records the parsed values
 */
export function fileOf(values: readonly string[], records: readonly KeyRecord[], keyType: KeyType): MerkleFile {
  return { values, records, lookup: indexByUser(records, values), tree: new MerkleTree(values), keyType };
}

/** Returns the index of each user's record. @throws ArgumentError DUPLICATE_VALUE, DUPLICATE_USER */
function indexByUser(records: readonly KeyRecord[], values: readonly string[]): Map<UserID, number> {
  const index = new Map<UserID, number>();
  for (const { userID } of records) {
    const first = index.get(userID);
    // `index.size` is six times as fast as `entries` until engines optimize the loop.
    const i = index.size;
    if (first !== undefined) {
      // Repeating the last value may leave the root unchanged, because a node can be paired with itself
      // (CVE-2012-2459).
      const code = values[first] === values[i] ? "DUPLICATE_VALUE" : "DUPLICATE_USER";
      const message = `The user ${userID} has two records, at the indexes ${first} and ${i}.`;
      throw new ArgumentError(code, message, { expected: first, actual: i });
    }
    index.set(userID, i);
  }
  return index;
}

/** Returns the index of a user's record in the file of a root. @throws VerificationError USER_NOT_IN_FILE */
export function indexOfUser(root: string, { lookup }: MerkleFile, userID: UserID): number {
  const index = lookup.get(userID);
  if (index !== undefined) return index;
  const message = `The file ${root}.json has no record of the user ${userID}.`;
  throw new VerificationError("record", "USER_NOT_IN_FILE", message, { expected: userID });
}
