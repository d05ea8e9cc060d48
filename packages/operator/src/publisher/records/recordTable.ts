import { ArgumentError } from "keyroot/internal/errors";
import {
  checkKeyRecord,
  curve41417,
  KEY_ID_BYTES,
  type KeyRecord,
  type KeyType,
  toKeyRecord,
  type UserID,
} from "keyroot/internal/identity";

/** A second record for a user. */
export interface Duplicate {
  userID: UserID;
  line: number;
  /** The line of the user's first record, which remains in the table. */
  firstLine: number;
}

/** The offset of the public key in a row, after the 32 characters of the user id. */
const PUB_KEY = 32;
const LINE_BYTES = 4;
/** Rows are stored in chunks of up to 2.6 MB, so that the table grows without copying. */
const ROWS_PER_CHUNK = 2 ** 14;
/**
 * How many leading bytes of a user id are compared as one number. With 6 bytes (48 bits), the number is still exact.
 */
const PREFIX_BYTES = 6;

/**
 * A table of users' key records. A record with a Curve41417 key takes 165 bytes, a quarter of its size as an object.
 * New records are listed only after `sortByUser` has sorted them by user id.
 */
export class RecordTable implements Iterable<KeyRecord> {
  readonly #chunks: Buffer[];
  #rows: number;
  /** The rows, in the order of the user ids. */
  #order: Uint32Array;

  /** The offsets in a row: the user id and the public key come first, then the key id and the line number. */
  readonly #keyID: number;
  readonly #line: number;
  readonly #rowBytes: number;
  /** The type of all keys. */
  readonly keyType: KeyType;

  private constructor(keyType: KeyType, chunks: Buffer[] = [], rows = 0, order = new Uint32Array()) {
    this.keyType = keyType;
    this.#keyID = PUB_KEY + keyType.length;
    this.#line = this.#keyID + KEY_ID_BYTES;
    this.#rowBytes = this.#line + LINE_BYTES;
    this.#chunks = chunks;
    this.#rows = rows;
    this.#order = order;
  }

  static empty(keyType: KeyType = curve41417): RecordTable {
    return new RecordTable(keyType);
  }

  /**
   * Checks records, and creates a sorted table of them.
   * @throws ArgumentError DUPLICATE_USER, and the errors of `toKeyRecord` and `checkKeyRecord`
   */
  static of(records: Iterable<KeyRecord>, keyType: KeyType = curve41417): RecordTable {
    const table = new RecordTable(keyType);
    for (const record of records) {
      const checked = toKeyRecord(record, keyType);
      checkKeyRecord(checked, keyType);
      table.add(checked);
    }
    const [duplicate] = table.sortByUser();
    if (duplicate === undefined) return table;
    const { userID } = duplicate;
    throw new ArgumentError("DUPLICATE_USER", `The user ${userID} has two records. Keep one of them.`, {
      actual: userID,
    });
  }

  /**
   * Adds a record that `checkKeyRecord` has accepted. Its key and key id are published unchanged.
   * @param line the number of the record's line in the input. Default: the position of the record, from 1
   */
  add({ userID, pubKey, keyID }: KeyRecord, line = this.#rows + 1): void {
    const row = this.#rows++;
    if (row % ROWS_PER_CHUNK === 0) this.#chunks.push(Buffer.alloc(ROWS_PER_CHUNK * this.#rowBytes));
    const chunk = this.#chunkOf(row);
    const start = this.#startOf(row);
    chunk.write(userID, start, "latin1");
    chunk.write(pubKey, start + PUB_KEY, "base64");
    chunk.write(keyID, start + this.#keyID, "base64");
    chunk.writeUInt32LE(line, start + this.#line);
  }

  /** Sorts the records by user id, and keeps only the first record of each user. @returns the removed records */
  sortByUser(): Duplicate[] {
    const prefixes = new Float64Array(this.#rows);
    const order = new Uint32Array(this.#rows);
    for (let row = 0; row < this.#rows; row++) {
      prefixes[row] = this.#chunkOf(row).readUIntBE(this.#startOf(row), PREFIX_BYTES);
      order[row] = row;
    }
    // Put a user's earlier row first.
    order.sort((a, b) => at(prefixes, a) - at(prefixes, b) || this.#compareUsers(a, b) || a - b);
    const duplicates: Duplicate[] = [];
    let first = NaN;
    this.#order = order.filter((row, i) => {
      if (i === 0 || prefixes[row] !== prefixes[first] || this.#compareUsers(row, first) !== 0) {
        first = row;
        return true;
      }
      const lines = { line: this.#lineOf(row), firstLine: this.#lineOf(first) };
      duplicates.push({ userID: this.#userIDOf(row), ...lines });
      return false;
    });
    return duplicates;
  }

  get length(): number {
    return this.#order.length;
  }

  /** Returns the user ids from position `start` to the position before `end`. */
  userIDs(start: number, end: number): UserID[] {
    return Array.from(this.#order.subarray(start, end), (row) => this.#userIDOf(row));
  }

  has(userID: UserID): boolean {
    return this.#rowOf(userID) !== undefined;
  }

  /** Returns the records of these users, in the given order. Users without a record are skipped. */
  recordsOf(userIDs: Iterable<UserID>): KeyRecord[] {
    const records: KeyRecord[] = [];
    for (const userID of userIDs) {
      const row = this.#rowOf(userID);
      if (row !== undefined) records.push(this.#recordOf(row));
    }
    return records;
  }

  /** Returns the number of the user's line in the input, or undefined for other users, and after `release`. */
  lineOf(userID: UserID): number | undefined {
    const row = this.#rowOf(userID);
    return row === undefined ? undefined : this.#lineOf(row);
  }

  /** Returns the records at these positions. */
  recordsAt(positions: readonly number[]): KeyRecord[] {
    return positions.map((position) => this.#recordOf(at(this.#order, position)));
  }

  /** Returns a table of the records at the positions that `keep` selects. Both tables share the same memory. */
  filter(keep: (position: number) => boolean): RecordTable {
    const order = this.#order.filter((_, position) => keep(position));
    return new RecordTable(this.keyType, this.#chunks, this.#rows, order);
  }

  /** Frees the memory of all records, including the records in tables that were filtered from this table. */
  release(): void {
    this.#chunks.length = 0;
    this.#rows = 0;
    this.#order = new Uint32Array();
  }

  *[Symbol.iterator](): Generator<KeyRecord> {
    for (const row of this.#order) yield this.#recordOf(row);
  }

  #recordOf(row: number): KeyRecord {
    const chunk = this.#chunkOf(row);
    const start = this.#startOf(row);
    return {
      userID: this.#userIDOf(row),
      pubKey: chunk.toString("base64", start + PUB_KEY, start + this.#keyID),
      keyID: chunk.toString("base64", start + this.#keyID, start + this.#line),
    };
  }

  #rowOf(userID: UserID): number | undefined {
    const target = Buffer.from(userID, "latin1");
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const row = at(this.#order, middle);
      const start = this.#startOf(row);
      const side = target.compare(this.#chunkOf(row), start, start + PUB_KEY);
      if (side === 0) return row;
      if (side < 0) high = middle;
      else low = middle + 1;
    }
    return undefined;
  }

  #userIDOf(row: number): UserID {
    return this.#chunkOf(row).toString("latin1", this.#startOf(row), this.#startOf(row) + PUB_KEY);
  }

  #lineOf(row: number): number {
    return this.#chunkOf(row).readUInt32LE(this.#startOf(row) + this.#line);
  }

  #compareUsers(a: number, b: number): number {
    const [startA, startB] = [this.#startOf(a), this.#startOf(b)];
    return this.#chunkOf(a).compare(this.#chunkOf(b), startB, startB + PUB_KEY, startA, startA + PUB_KEY);
  }

  #startOf(row: number): number {
    return (row % ROWS_PER_CHUNK) * this.#rowBytes;
  }

  #chunkOf(row: number): Buffer {
    return at(this.#chunks, Math.floor(row / ROWS_PER_CHUNK));
  }
}

function at<T>(list: ArrayLike<T>, i: number): T {
  const item = list[i];
  if (item === undefined) throw new RangeError(`The index ${i} is out of range: the length is ${list.length}.`);
  return item;
}
