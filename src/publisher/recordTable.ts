import { ArgumentError } from "../errors.ts";
import { checkKeyRecord, type KeyRecord, toKeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";

/** A record that is not the first of its user. */
export interface Duplicate {
  userID: UserID;
  line: number;
  /** The line of the record that stays. */
  firstLine: number;
}

/** Where the fields of a record stand in its row: characters of zBase32 and base64, a byte each. */
const PUB_KEY = 32;
const KEY_ID = PUB_KEY + 140;
const ROW_BYTES = KEY_ID + 24;
/** Rows come in chunks of 3 MiB: what is there already is never copied. */
const ROWS_PER_CHUNK = 2 ** 14;
/** As many characters as a number holds exactly. */
const PREFIX_BYTES = 6;

/** Many users' records in 200 bytes each, a third of what objects take; once settled, in the order of their users. */
export class RecordTable implements Iterable<KeyRecord> {
  readonly #chunks: Buffer[];
  readonly #lines: number[];
  /** The rows in the order of their users. */
  #order: Uint32Array;

  private constructor(chunks: Buffer[] = [], lines: number[] = [], order = new Uint32Array()) {
    this.#chunks = chunks;
    this.#lines = lines;
    this.#order = order;
  }

  static empty(): RecordTable {
    return new RecordTable();
  }

  /**
   * A settled table of records that nobody has checked.
   * @throws ArgumentError DUPLICATE_USER, and as `toKeyRecord` and `checkKeyRecord`
   */
  static of(records: Iterable<KeyRecord>): RecordTable {
    const table = new RecordTable();
    for (const record of records) {
      checkKeyRecord(toKeyRecord(record));
      table.add(record);
    }
    const [twice] = table.settle();
    if (twice === undefined) return table;
    throw new ArgumentError("DUPLICATE_USER", `The user ${twice.userID} has two records.`, { actual: twice.userID });
  }

  /** Takes a record whose form was checked. @param line where it came from */
  add({ userID, pubKey, keyID }: KeyRecord, line = this.#lines.length + 1): void {
    const row = this.#lines.push(line) - 1;
    if (row % ROWS_PER_CHUNK === 0) this.#chunks.push(Buffer.allocUnsafeSlow(ROWS_PER_CHUNK * ROW_BYTES));
    this.#chunkOf(row).write(userID + pubKey + keyID, startOf(row), "latin1");
  }

  /** Puts the records in the order of their users, and takes out all but the first of each. @returns what it took out */
  settle(): Duplicate[] {
    const prefixOf = (_: unknown, row: number) => this.#chunkOf(row).readUIntBE(startOf(row), PREFIX_BYTES);
    const prefixes = Float64Array.from(this.#lines, prefixOf);
    // Of one user's records, the earlier row comes first.
    const compare = (a: number, b: number) => at(prefixes, a) - at(prefixes, b) || this.#compareUsers(a, b) || a - b;
    const order = Uint32Array.from(this.#lines.keys()).sort(compare);
    const duplicates: Duplicate[] = [];
    let first = NaN;
    this.#order = order.filter((row, i) => {
      if (i === 0 || this.#compareUsers(row, first) !== 0) {
        first = row;
        return true;
      }
      const lines = { line: at(this.#lines, row), firstLine: at(this.#lines, first) };
      duplicates.push({ userID: this.#userIDOf(row), ...lines });
      return false;
    });
    return duplicates;
  }

  get length(): number {
    return this.#order.length;
  }

  /** The users from one place in the order up to, and without, another. */
  userIDs(start: number, end: number): UserID[] {
    return Array.from(this.#order.subarray(start, end), (row) => this.#userIDOf(row));
  }

  /** Those records of the table whose places in the order are to be kept. */
  filter(keep: (place: number) => boolean): RecordTable {
    return new RecordTable(
      this.#chunks,
      this.#lines,
      this.#order.filter((_, place) => keep(place)),
    );
  }

  *[Symbol.iterator](): Generator<KeyRecord> {
    for (const row of this.#order) {
      const start = startOf(row);
      const text = this.#chunkOf(row).toString("latin1", start, start + ROW_BYTES);
      yield { userID: text.slice(0, PUB_KEY), pubKey: text.slice(PUB_KEY, KEY_ID), keyID: text.slice(KEY_ID) };
    }
  }

  #userIDOf(row: number): UserID {
    return this.#chunkOf(row).toString("latin1", startOf(row), startOf(row) + PUB_KEY);
  }

  #compareUsers(a: number, b: number): number {
    const [startA, startB] = [startOf(a), startOf(b)];
    return this.#chunkOf(a).compare(this.#chunkOf(b), startB, startB + PUB_KEY, startA, startA + PUB_KEY);
  }

  #chunkOf(row: number): Buffer {
    return at(this.#chunks, Math.floor(row / ROWS_PER_CHUNK));
  }
}

/** Where a row stands in its chunk. */
function startOf(row: number): number {
  return (row % ROWS_PER_CHUNK) * ROW_BYTES;
}

function at<T>(list: ArrayLike<T>, i: number): T {
  const item = list[i];
  if (item === undefined) throw new RangeError(`There is no item ${i} of ${list.length}.`);
  return item;
}
