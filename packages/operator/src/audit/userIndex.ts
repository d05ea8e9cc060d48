import { type UserID, USER_ID_BYTES, userIDFromBytes, userIDToBytes } from "keyroot/internal/identity";
import { USER_BYTES, userIDsIn } from "./auditFile.ts";
import { makeUserHash, type UserHash } from "./userHash.ts";

/** The bits of a sort key that hold the user's number. A sort key is the hash of a user id followed by that number. */
const NUMBER_BITS = 32n;

/** A user in one file. */
export interface IndexedUser {
  userID: UserID;
  /** The number of the file, starting with 0 for the first file that was added. */
  file: number;
  /** The first 16 bytes of SHA-256 over the user's key. */
  keyID: Uint8Array;
}

/**
 * An index that finds users who are in several files. It takes 44 bytes per user: 20 for the user id, 16 for the hash
 * of the key, and 8 for the sort key. If the hash of the key were shorter, an attacker could create two keys with the
 * same hash.
 */
export class UserIndex {
  readonly #files: Uint8Array[] = [];
  /** The number of each file's first user. */
  readonly #starts: number[] = [];
  #count = 0;
  #sorted: BigUint64Array | undefined;
  readonly #hash: UserHash;

  constructor(hash = makeUserHash()) {
    this.#hash = hash;
  }

  /** The number of users in all files. A user in two files is counted twice. */
  get count(): number {
    return this.#count;
  }

  /**
   * @param users the users of a file, with `USER_BYTES` bytes each
   * @returns the number of the file
   */
  add(users: Uint8Array): number {
    this.#starts.push(this.#count);
    this.#count += users.length / USER_BYTES;
    this.#sorted = undefined;
    return this.#files.push(users) - 1;
  }

  /** Returns the users of a file, in the file's order. */
  usersOf(file: number): UserID[] {
    return userIDsIn(this.#files[file] ?? new Uint8Array());
  }

  /** Returns every entry of a user. */
  find(userID: UserID): IndexedUser[] {
    const id = userIDToBytes(userID);
    const sorted = (this.#sorted ??= this.#sort());
    const hash = this.#hash(id, 0);
    let [start, end] = [0, sorted.length];
    while (start < end) {
      const middle = (start + end) >> 1;
      const order = hashIn(sorted, middle) - hash || Buffer.compare(this.#idOf(numberIn(sorted, middle)), id);
      if (order < 0) start = middle + 1;
      else end = middle;
    }
    return this.#withSameID(sorted, start, id).map((number) => this.#userAt(number));
  }

  /** Returns all entries of each user who is in more than one file. */
  *inSeveralFiles(): Generator<IndexedUser[]> {
    const sorted = (this.#sorted ??= this.#sort());
    for (let start = 0; start < sorted.length;) {
      const end = endOfHash(sorted, start);
      // Usually, only one entry has this hash, and the loop does nothing.
      for (let i = start; end - start > 1 && i < end;) {
        const numbers = this.#withSameID(sorted, i, this.#idOf(numberIn(sorted, i)));
        if (numbers.length > 1) yield numbers.map((number) => this.#userAt(number));
        i += numbers.length;
      }
      start = end;
    }
  }

  /** Returns the numbers of the entries with this user id, which begin at `start` in `sorted`. */
  #withSameID(sorted: BigUint64Array, start: number, id: Uint8Array): number[] {
    const numbers: number[] = [];
    for (let i = start; i < sorted.length; i++) {
      const number = numberIn(sorted, i);
      if (Buffer.compare(this.#idOf(number), id) !== 0) break;
      numbers.push(number);
    }
    return numbers;
  }

  /**
   * Sorts all users by the hashes of their ids. This is about ten times as fast as sorting by the ids themselves,
   * because ids need to be compared only if their hashes are equal.
   */
  #sort(): BigUint64Array {
    const keys = new BigUint64Array(this.#count);
    let number = 0;
    for (const users of this.#files) {
      for (let at = 0; at < users.length; at += USER_BYTES, number++) {
        keys[number] = (BigInt(this.#hash(users, at)) << NUMBER_BITS) | BigInt(number);
      }
    }
    keys.sort();
    for (let start = 0; start < keys.length;) {
      const end = endOfHash(keys, start);
      const part = keys.subarray(start, end);
      if (part.length > 1) part.sort((a, b) => Buffer.compare(this.#idOf(numberOf(a)), this.#idOf(numberOf(b))));
      start = end;
    }
    return keys;
  }

  #idOf(number: number): Uint8Array {
    return this.#at(number).bytes.subarray(0, USER_ID_BYTES);
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

function hashIn(keys: BigUint64Array, i: number): number {
  return Number((keys[i] ?? 0n) >> NUMBER_BITS);
}

function numberIn(keys: BigUint64Array, i: number): number {
  return numberOf(keys[i] ?? 0n);
}

function numberOf(key: bigint): number {
  return Number(BigInt.asUintN(Number(NUMBER_BITS), key));
}

/** Returns the end of the range of equal hashes that begins at `start`. */
function endOfHash(keys: BigUint64Array, start: number): number {
  const hash = (keys[start] ?? 0n) >> NUMBER_BITS;
  let end = start + 1;
  while (end < keys.length && (keys[end] ?? 0n) >> NUMBER_BITS === hash) end++;
  return end;
}
