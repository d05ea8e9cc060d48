import { type UserID, USER_ID_BYTES, userIDFromBytes, userIDToBytes } from "keyroot/identity";
import { USER_BYTES } from "./judgeFile.ts";

/** In a key to sort by, what stands behind the first bytes of an id. */
const NUMBER_BITS = 32n;

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
    let [start, end] = [0, sorted.length];
    while (start < end) {
      const middle = (start + end) >> 1;
      if (Buffer.compare(this.#idOf(numberIn(sorted, middle)), id) < 0) start = middle + 1;
      else end = middle;
    }
    return this.#alike(sorted, start, id).map((number) => this.#userAt(number));
  }

  /** Those who stand in more than one file, each with all places. */
  *inSeveralFiles(): Generator<IndexedUser[]> {
    const sorted = (this.#sorted ??= this.#sort());
    for (let start = 0; start < sorted.length;) {
      const end = endOfPrefix(sorted, start);
      // Alone with the first bytes of the id: nearly always.
      for (let i = start; end - start > 1 && i < end;) {
        const numbers = this.#alike(sorted, i, this.#idOf(numberIn(sorted, i)));
        if (numbers.length > 1) yield numbers.map((number) => this.#userAt(number));
        i += numbers.length;
      }
      start = end;
    }
  }

  /** The numbers of those, from a place on, who have this id. */
  #alike(sorted: BigUint64Array, start: number, id: Uint8Array): number[] {
    const numbers: number[] = [];
    for (let i = start; i < sorted.length; i++) {
      const number = numberIn(sorted, i);
      if (Buffer.compare(this.#idOf(number), id) !== 0) break;
      numbers.push(number);
    }
    return numbers;
  }

  /**
   * All users by their ids: the first four bytes of each with the user's number behind them, sorted as numbers, which is
   * some ten times as fast as comparing ids. Only those that begin alike are compared: whoever chooses the ids can make
   * that all of them, and then it takes longer, though no more than sorting does.
   */
  #sort(): BigUint64Array {
    const keys = new BigUint64Array(this.#count);
    let number = 0;
    for (const users of this.#files) {
      for (let at = 0; at < users.length; at += USER_BYTES, number++) {
        keys[number] = (BigInt(prefixOf(users, at)) << NUMBER_BITS) | BigInt(number);
      }
    }
    keys.sort();
    for (let start = 0; start < keys.length;) {
      const end = endOfPrefix(keys, start);
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

function prefixOf(bytes: Uint8Array, at: number): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 4).readUInt32BE();
}

function numberIn(keys: BigUint64Array, i: number): number {
  return numberOf(keys[i] ?? 0n);
}

function numberOf(key: bigint): number {
  return Number(BigInt.asUintN(Number(NUMBER_BITS), key));
}

/** Where the ids that begin as the one at `start` end. */
function endOfPrefix(keys: BigUint64Array, start: number): number {
  const prefix = (keys[start] ?? 0n) >> NUMBER_BITS;
  let end = start + 1;
  while (end < keys.length && (keys[end] ?? 0n) >> NUMBER_BITS === prefix) end++;
  return end;
}
