import type { ErrorCode, VerificationStep } from "../../src/errors.ts";
import { VerificationError } from "../../src/errors.ts";
import { base64ToBytes } from "../../src/identity/base64.ts";
import type { KeyRecord } from "../../src/identity/keyRecord.ts";
import { judgeFile } from "../../src/verifier/judgement.ts";
import { plainFile } from "../../test/merkle/plainFile.ts";
import { sha256 } from "../../test/samples.ts";

/** A question to a verifier and the one right answer; test/vectors/README.md explains every field. */
export interface Vector {
  name: string;
  about: string;
  question: Question;
  input: Input;
  verdict: Verdict;
}

export interface Question {
  userID: string;
  root: string;
  /** In base64. */
  expectedPublicKey?: string;
}

/** Exact bytes: as text, in base64 where they are no UTF-8, or as the file that follows from these values. */
export type Input = { text: string } | { base64: string } | { values: string[]; sha256: string };

export type Verdict = { verified: Verified } | { step: VerificationStep; code: ErrorCode };

/** Where the user's record stands in `values`, and what it says. */
export interface Verified {
  index: number;
  record: KeyRecord;
}

/** What one file of test/vectors holds. */
export interface VectorSet {
  format: "keyroot-vectors-v1";
  kind: "merkle-file";
  about: string;
  vectors: Vector[];
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
export function judge({ question, input }: Pick<Vector, "question" | "input">): Verdict {
  const { userID, root, expectedPublicKey: key } = question;
  const expectedPublicKey = key === undefined ? undefined : base64ToBytes(key);
  try {
    const asked = { userID, chainId: 1, contract: `0x${"00".repeat(20)}`, expectedPublicKey };
    const { index, record } = judgeFile(asked, root, toBytes(input));
    return { verified: { index, record } };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { step: error.step, code: error.code };
  }
}
