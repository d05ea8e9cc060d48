import type { KeyRecord } from "keyroot/identity";
import { add, BASE, encode, multiply, type Point } from "../../../test/support/data/curve41417.ts";
import { type PlainFile, plainFile } from "../../../test/support/data/plainFile.ts";
import { sampleUserID, sha256 } from "../../../test/support/samples.ts";
import { type FileQuery, plainText } from "./vector.ts";

/** The first private key. The others follow by counting. */
const FIRST_PRIVATE_KEY = BigInt(`0x${sha256("keyroot-vectors-v1")}`);
const points: Point[] = [];

/** The point of public key number `i`. */
export function pointOf(i: number): Point {
  return (points[i] ??= i === 0 ? multiply(FIRST_PRIVATE_KEY, BASE) : add(pointOf(i - 1), BASE));
}

/** The record of a key, which can be any bytes. */
export function recordOf(userID: string, publicKey: Uint8Array): KeyRecord {
  const keyID = Buffer.from(sha256(publicKey), "hex").subarray(0, 16);
  return { userID, pubKey: Buffer.from(publicKey).toString("base64"), keyID: keyID.toString("base64") };
}

/** The record of user number `i`. Each user has a different key. */
export function sampleRecord(i: number): KeyRecord {
  return recordOf(sampleUserID(i), encode(pointOf(i)));
}

/** The text of a record, as the library writes it. */
export function textOf({ userID, pubKey, keyID }: KeyRecord): string {
  return JSON.stringify({ userID, pubKey, keyID });
}

/** A valid file, made without the library, and functions that change it. */
export class SampleFile {
  readonly records: readonly KeyRecord[];
  readonly values: readonly string[];
  readonly text: string;
  readonly root: string;

  constructor(users: number) {
    const records = Array.from({ length: users }, (_, i) => sampleRecord(i));
    this.records = records.sort((a, b) => (a.userID < b.userID ? -1 : 1));
    this.values = this.records.map(textOf);
    this.text = plainText(this.values);
    this.root = plainFile(this.values).root;
  }

  record(i: number): KeyRecord {
    const record = this.records[i];
    if (record === undefined) throw new RangeError(`The file has no record ${i}.`);
    return record;
  }

  /** The query that matches this file, for the user at an index. */
  question(i = 0): FileQuery {
    return { userID: this.record(i).userID, root: this.root };
  }

  /** The text with a part of it replaced. The part must exist. */
  edited(from: string, to: string): string {
    if (!this.text.includes(from)) throw new Error(`The file has no ${from}.`);
    return this.text.replace(from, () => to);
  }

  /** The text with one of the file's three parts replaced or removed. */
  withPart(key: string, part?: unknown): string {
    return JSON.stringify({ ...this.#plain(), [key]: part });
  }

  /** The text with a key of `merkle` replaced, added or removed. */
  withKey(key: string, value?: unknown): string {
    return this.withPart("merkle", { ...this.#plain().merkle, [key]: value });
  }

  /** The text with fields of a node replaced, added or removed. */
  withNode(hash: string, fields: object): string {
    return this.withKey(hash, { ...(this.node(hash) as object), ...fields });
  }

  withLookup(lookup: object): string {
    return this.withPart("lookup", { ...this.#plain().lookup, ...lookup });
  }

  /** The text with other values and the matching lookup, but the same tree. */
  withValues(values: readonly string[]): string {
    return JSON.stringify({ ...this.#plain(), values, lookup: plainFile(values).lookup });
  }

  node(hash: string): unknown {
    return this.#plain().merkle[hash];
  }

  /** The hashes of the nodes: the leaves from left to right, then level by level, and the root last. */
  hashes(): string[] {
    return Object.keys(this.#plain().merkle).slice(4);
  }

  #plain(): PlainFile {
    return JSON.parse(this.text) as PlainFile;
  }
}
