import type { ErrorCode, VerificationStep } from "keyroot/errors";
import { VerificationError } from "keyroot/errors";
import { base64ToBytes } from "keyroot/bytes";
import type { KeyRecord } from "keyroot/identity";
import { verifyProof } from "keyroot/merkle";
import { verifyBundle } from "keyroot/verifier";
import { verifyFile } from "keyroot/verifier";
import { plainFile } from "../../fixtures/plainFile.ts";
import { sha256 } from "../../fixtures/samples.ts";

/** A question to a verifier and the one right answer; test/vectors/README.md explains every field. */
export interface Vector<Asked = Question> {
  name: string;
  about: string;
  question: Asked;
  input: Input;
  verdict: Verdict;
}

/** What a file or a proof is asked. */
export interface Question {
  userID: string;
  root: string;
  /** In base64. */
  expectedPublicKey?: string;
}

/** What a bundle is asked. */
export interface BundleQuery {
  userID: string;
  chainId: number;
  contract: string;
  blockHash?: string;
  codeHash?: string;
  usersSlot?: number;
  /** In base64. */
  expectedPublicKey?: string;
}

/** Exact bytes: as text, in base64 where they are no UTF-8, or as the file that follows from these values. */
export type Input = { text: string } | { base64: string } | { values: string[]; sha256: string };

export type Verdict = { verified: Verified } | { step: VerificationStep; code: ErrorCode };

/** What was verified: by a file, where the record stands in `values`; by a bundle, under which root, as of which block. */
export interface Verified {
  index?: number;
  record: KeyRecord;
  root?: string;
  block?: { number: number; timestamp: number };
}

/** What one file of test/vectors holds. */
export type VectorSet = { format: "keyroot-vectors-v1"; about: string } & (
  { kind: "merkle-file" | "proof"; vectors: Vector[] } | { kind: "bundle"; vectors: Vector<BundleQuery>[] }
);

/** A vector without its verdict, and what it is of. */
export type Case = Pick<Vector, "input"> &
  ({ kind: "merkle-file" | "proof"; question: Question } | { kind: "bundle"; question: BundleQuery });

/** The cases of a set, with what is said of them. */
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
  if (sha256(text) !== input.sha256) throw new Error("The values give another file than they did.");
  return Buffer.from(text);
}

/** The text of the file that follows from these values, be they records or not, as we write files. */
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

/** A set's text, in plain ASCII. */
export function serializeVectorSet(set: VectorSet): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(set, null, 2).replace(/[^\n\x20-\x7e]/g, escape)}\n`;
}

/** The library's verdict. Whatever it throws beside a `VerificationError` is a defect, and thrown on. */
export async function judge(vector: Case): Promise<Verdict> {
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
      const asked = { userID: question.userID, chainId: 1, contract: `0x${"00".repeat(20)}`, expectedPublicKey };
      const { index, record } = verifyFile(asked, question.root, bytes);
      return { index, record };
    }
    case "proof": {
      return { record: verifyProof(bytes, { ...question, expectedPublicKey }).record };
    }
    case "bundle": {
      const { blockHash, ...asked } = question;
      const { record, root, evidence } = await verifyBundle(bytes, { ...asked, expectedPublicKey }, { blockHash });
      const { number = NaN, timestamp = NaN } = evidence.block ?? {};
      return { record, root, block: { number, timestamp } };
    }
  }
}
