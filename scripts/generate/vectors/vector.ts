import type { VerificationStep } from "keyroot/errors";
import { VerificationError } from "keyroot/errors";
import { base64ToBytes } from "keyroot/bytes";
import type { KeyRecord } from "keyroot/identity";
import { verifyMerkleProof } from "keyroot/merkle";
import { verifyBundle } from "keyroot/bundle";
import { verifyFile } from "keyroot/verifier";
import { plainFile } from "../../../test/support/data/plainFile.ts";
import { sha256 } from "../../../test/support/samples.ts";

/** A query to a verifier and the correct verdict. test/vectors/README.md explains every field. */
export interface Vector<Query = FileQuery> {
  name: string;
  about: string;
  question: Query;
  input: Input;
  verdict: Verdict;
}

/** The query about a file or a proof. */
export interface FileQuery {
  userID: string;
  root: string;
  /** In base64. */
  expectedPublicKey?: string;
}

/** The query about a bundle. */
export interface BundleQuery {
  userID: string;
  chainId: number;
  contract: string;
  pinned?: string;
  codeHash?: string;
  usersSlot?: number;
  /** In base64. */
  expectedPublicKey?: string;
}

/** The exact bytes: as text, in base64 if they are not UTF-8, or as the values of a file. */
export type Input = { text: string } | { base64: string } | { values: string[]; sha256: string };

export type Verdict = { verified: Verified } | { step: VerificationStep; code: string };

/** The result of a verification. A file also gives the index in `values`, a bundle the root and the block. */
export interface Verified {
  index?: number;
  record: KeyRecord;
  root?: string;
  block?: { number: number; timestamp: number };
}

/** The content of a file in test/vectors. */
export type VectorSet = { format: "keyroot-vectors-v1"; about: string } & (
  { kind: "merkle-file" | "proof"; vectors: Vector[] } | { kind: "bundle"; vectors: Vector<BundleQuery>[] }
);

/** A vector without its verdict, with the kind of its document. */
export type Case = Pick<Vector, "input"> &
  ({ kind: "merkle-file" | "proof"; question: FileQuery } | { kind: "bundle"; question: BundleQuery });

/** The cases of a set, with their names and verdicts. */
export function casesOf(set: VectorSet): (Case & Pick<Vector, "name" | "verdict">)[] {
  return set.kind === "bundle"
    ? set.vectors.map((vector) => ({ ...vector, kind: set.kind }))
    : set.vectors.map((vector) => ({ ...vector, kind: set.kind }));
}

export function toInput(bytes: Uint8Array): Input {
  const buffer = Buffer.from(bytes);
  const text = buffer.toString();
  return Buffer.from(text).equals(buffer) ? { text } : { base64: buffer.toString("base64") };
}

export function toBytes(input: Input): Uint8Array {
  if ("text" in input) return Buffer.from(input.text);
  if ("base64" in input) return Buffer.from(input.base64, "base64");
  const text = plainText(input.values);
  if (sha256(text) !== input.sha256) throw new Error("The file of these values has changed.");
  return Buffer.from(text);
}

/** The text of the file of these values, which do not have to be records, as the library writes it. */
export function plainText(values: readonly string[]): string {
  const lookup = Object.fromEntries(values.map((value, i) => [userOf(value), i]));
  return JSON.stringify({ merkle: plainFile(values).merkle, values, lookup });
}

function userOf(value: string): string {
  try {
    const { userID } = JSON.parse(value) as Partial<KeyRecord>;
    return userID ?? value;
  } catch {
    return value;
  }
}

/** The text of a set, in plain ASCII. */
export function serializeVectorSet(set: object): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(set, null, 2).replace(/[^\n\x20-\x7e]/g, escape)}\n`;
}

/** The library's verdict. Any error except a `VerificationError` is a bug, and is thrown. */
export async function verdictOf(vector: Case): Promise<Verdict> {
  try {
    return { verified: await verify(vector) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { step: error.step, code: error.code };
  }
}

async function verify({ kind, question, input }: Case): Promise<Verified> {
  const bytes = toBytes(input);
  const key = question.expectedPublicKey;
  const expectedPublicKey = key === undefined ? undefined : base64ToBytes(key);
  switch (kind) {
    case "merkle-file": {
      const query = { userID: question.userID, chainId: 1, contract: `0x${"00".repeat(20)}`, expectedPublicKey };
      const { index, record } = verifyFile(query, question.root, bytes);
      return { index, record };
    }
    case "proof": {
      return { record: verifyMerkleProof(bytes, { ...question, expectedPublicKey }).record };
    }
    case "bundle": {
      const { pinned, ...query } = question;
      const { record, root, evidence } = await verifyBundle(bytes, { ...query, expectedPublicKey }, { pinned });
      const { number = NaN, timestamp = NaN } = evidence.block ?? {};
      return { record, root, block: { number, timestamp } };
    }
  }
}
