import { type UserID, USER_ID_BYTES, userIDFromBytes, userIDToBytes } from "../identity/userID.ts";
import { USER_BYTES } from "./judgeFile.ts";

/** A user as a file has them. */
export interface IndexedUser {
  userID: UserID;
  /** The number of the file, counted in the order in which files were added. */
  file: number;
  /** The first 16 bytes of SHA-256 over the user's key. */
  keyID: Uint8Array;
}

/**
 * All users of all files, to find who stands in several. It takes 44 bytes for a user: the 20 of the id, 16 of the key's
 * hash (fewer, and whoever chooses both keys could make two of one hash), 8 to sort by. A million users are 44 MB.
 */
export class UserIndex {
  readonly #files: Uint8Array[] = [];
  /** The number of each file's first user. */
  readonly #starts: number[] = [];
  #count = 0;
  #sorted: BigUint64Array | undefined;

  /** How many users stand in all files together; one in two files counts twice. */
  get count(): number {
    return this.#count;
  }

  /**
   * @param users 36 bytes each: id and hash of the key
   * @returns the number of the file
   */
  add(users: Uint8Array): number {
    this.#starts.push(this.#count);
    this.#count += users.length / USER_BYTES;
    this.#sorted = undefined;
    return this.#files.push(users) - 1;
  }

  /** The users of a file, in its order. */
  usersOf(file: number): UserID[] {
    const users = this.#files[file] ?? new Uint8Array();
    return Array.from({ length: users.length / USER_BYTES }, (_, i) => {
      return userIDFromBytes(users.subarray(i * USER_BYTES, i * USER_BYTES + USER_ID_BYTES));
    });
  }

  /** Every place where a user stands. */
  find(userID: UserID): IndexedUser[] {
    const id = userIDToBytes(userID);
    const sorted = (this.#sorted ??= this.#sort());
    const prefix = BigInt(prefixOf(id, 0)) << 32n;
    const found: IndexedUser[] = [];
    for (let i = firstAtLeast(sorted, prefix); i < sorted.length; i++) {
      const key = sorted[i] ?? 0n;
      if (key >> 32n !== prefix >> 32n) break;
      const { bytes } = this.#at(Number(key & 0xffff_ffffn));
      if (Buffer.compare(bytes.subarray(0, USER_ID_BYTES), id) === 0)
        found.push(this.#userAt(Number(key & 0xffff_ffffn)));
    }
    return found;
  }

  /** Those who stand in more than one file, each with all places. */
  *inSeveralFiles(): Generator<IndexedUser[]> {
    const sorted = (this.#sorted ??= this.#sort());
    for (let start = 0, end = 1; start < sorted.length; start = end++) {
      const prefix = (sorted[start] ?? 0n) >> 32n;
      while (end < sorted.length && (sorted[end] ?? 0n) >> 32n === prefix) end++;
      if (end - start > 1) yield* this.#alike(sorted.subarray(start, end));
    }
  }

  /** Of users whose ids begin alike, those whose ids are the same. */
  *#alike(keys: BigUint64Array): Generator<IndexedUser[]> {
    const numbers = Array.from(keys, (key) => Number(key & 0xffff_ffffn));
    // Ids may be chosen so that many begin alike: sorted, not each held against each.
    const idOf = (number: number) => this.#at(number).bytes.subarray(0, USER_ID_BYTES);
    numbers.sort((a, b) => Buffer.compare(idOf(a), idOf(b)) || a - b);
    for (let start = 0, end = 1; start < numbers.length; start = end++) {
      const id = idOf(numbers[start] ?? 0);
      while (end < numbers.length && Buffer.compare(idOf(numbers[end] ?? 0), id) === 0) end++;
      if (end - start > 1) yield numbers.slice(start, end).map((number) => this.#userAt(number));
    }
  }

  /** The first four bytes of each id with the user's number behind them: sorted as numbers, without comparing ids. */
  #sort(): BigUint64Array {
    const keys = new BigUint64Array(this.#count);
    let number = 0;
    for (const users of this.#files) {
      for (let at = 0; at < users.length; at += USER_BYTES, number++) {
        keys[number] = (BigInt(prefixOf(users, at)) << 32n) | BigInt(number);
      }
    }
    return keys.sort();
  }

  #userAt(number: number): IndexedUser {
    const { file, bytes } = this.#at(number);
    return { userID: userIDFromBytes(bytes.subarray(0, USER_ID_BYTES)), file, keyID: bytes.subarray(USER_ID_BYTES) };
  }

  #at(number: number): { file: number; bytes: Uint8Array } {
    let [file, end] = [0, this.#starts.length];
    while (end - file > 1) {
      const middle = (file + end) >> 1;
      if ((this.#starts[middle] ?? 0) <= number) file = middle;
      else end = middle;
    }
    const at = (number - (this.#starts[file] ?? 0)) * USER_BYTES;
    return { file, bytes: (this.#files[file] ?? new Uint8Array()).subarray(at, at + USER_BYTES) };
  }
}

function prefixOf(bytes: Uint8Array, at: number): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 4).readUInt32BE();
}

function firstAtLeast(sorted: BigUint64Array, key: bigint): number {
  let [start, end] = [0, sorted.length];
  while (start < end) {
    const middle = (start + end) >> 1;
    if ((sorted[middle] ?? 0n) < key) start = middle + 1;
    else end = middle;
  }
  return start;
}
