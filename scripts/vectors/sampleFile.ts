import type { KeyRecord } from "keyroot/identity";
import { add, BASE, encode, multiply, type Point } from "../../fixtures/curve41417.ts";
import { type PlainFile, plainFile } from "../../fixtures/plainFile.ts";
import { sampleUserID, sha256 } from "../../fixtures/samples.ts";
import { plainText, type Question } from "./vector.ts";

/** The private keys are this number and those that follow it. */
const FIRST_PRIVATE_KEY = BigInt(`0x${sha256("keyroot-vectors-v1")}`);
const points: Point[] = [];

/** The public key number `i`, always the same. */
export function pointOf(i: number): Point {
  return (points[i] ??= i === 0 ? multiply(FIRST_PRIVATE_KEY, BASE) : add(pointOf(i - 1), BASE));
}

/** A record of these 105 bytes, or of any others. */
export function recordOf(userID: string, publicKey: Uint8Array): KeyRecord {
  const keyID = Buffer.from(sha256(publicKey), "hex").subarray(0, 16);
  return { userID, pubKey: Buffer.from(publicKey).toString("base64"), keyID: keyID.toString("base64") };
}

/** The record of the user number `i`, always the same, with a key of their own. */
export function sampleRecord(i: number): KeyRecord {
  return recordOf(sampleUserID(i), encode(pointOf(i)));
}

/** A record's text, as we write it. */
export function textOf({ userID, pubKey, keyID }: KeyRecord): string {
  return JSON.stringify({ userID, pubKey, keyID });
}

/** A good file, and ways to tamper with it. Nothing of it is made by the code that it is to judge. */
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

  /** The question that this file answers for the user at an index. */
  question(i = 0): Question {
    return { userID: this.record(i).userID, root: this.root };
  }

  /** The text with a piece of it replaced, which must be there. */
  edited(from: string, to: string): string {
    if (!this.text.includes(from)) throw new Error(`The file has no ${from}.`);
    return this.text.replace(from, () => to);
  }

  /** The text with one of the file's three parts exchanged, or left out. */
  withPart(key: string, part?: unknown): string {
    return JSON.stringify({ ...this.#plain(), [key]: part });
  }

  /** The text with a key of `merkle` exchanged, added or left out. */
  withKey(key: string, value?: unknown): string {
    return this.withPart("merkle", { ...this.#plain().merkle, [key]: value });
  }

  /** The text with fields of a node exchanged, added or left out. */
  withNode(hash: string, fields: object): string {
    return this.withKey(hash, { ...(this.node(hash) as object), ...fields });
  }

  withLookup(lookup: object): string {
    return this.withPart("lookup", { ...this.#plain().lookup, ...lookup });
  }

  /** The text with other values, and a lookup to match; the tree is untouched. */
  withValues(values: readonly string[]): string {
    return JSON.stringify({ ...this.#plain(), values, lookup: plainFile(values).lookup });
  }

  node(hash: string): unknown {
    return this.#plain().merkle[hash];
  }

  /** The nodes' hashes: the leaves from the left, then level by level, the root last. */
  hashes(): string[] {
    return Object.keys(this.#plain().merkle).slice(4);
  }

  #plain(): PlainFile {
    return JSON.parse(this.text) as PlainFile;
  }
}
