import { oneEndpoint, pinnedBlock } from "keyroot";
import { accounts } from "keyroot/account";
import { readFileSync } from "node:fs";
import { base64ToBytes } from "keyroot/internal/bytes";
import { verifyBundle } from "keyroot/bundle";
import { VerificationError, type VerificationStep } from "keyroot/internal/errors";
import { ANY_KEY, type KeyRecord, type KeyTypeName } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { verifyMerkleProof } from "keyroot/internal/merkle";
import { verifyFile } from "keyroot/internal/verifier";
import { plainFile } from "./plainFile.ts";
import { sha256 } from "../samples.ts";

/** Folder of the test vectors. Its README explains every field. */
export const VECTORS = new URL("../../vectors/", import.meta.url);

/** A set of documents with queries about them and the correct verdicts. */
export interface VectorSet {
  format: "keyroot-vectors-v1";
  kind: Kind;
  vectors: (Omit<Case, "kind"> & { name: string; verdict: Verdict })[];
}

export type Kind = "merkle-file" | "proof" | "bundle";

/** A document and a query about it. */
export interface Case {
  kind: Kind;
  question: Query;
  input: Input;
}

/**
 * A query about a file or a proof has a `root`, whereas one about a bundle has a `chainId` and a `contract`. Keys are
 * in base64.
 */
interface Query {
  userID: string;
  root?: string;
  chainId?: number;
  contract?: string;
  pinned?: string;
  codeHash?: string;
  expectedPublicKey?: string;
  /** The type of the keys that the reader is configured for. Default: `curve41417`. */
  keyType?: KeyTypeName;
  /** Whether the registry's user ids are account ids. Default: false. */
  accounts?: true;
}

/** Document bytes: as text, in base64 if they are not UTF-8, or as the values of a file. */
export type Input = { text: string } | { base64: string } | { values: string[]; sha256: string };

export type Verdict = { verified: Verified } | { step: VerificationStep; code: string };

/**
 * A verified record. For a file, it includes the index in `values`, and for a bundle, the root, the block and the
 * account.
 */
export interface Verified {
  index?: number;
  record: KeyRecord;
  root?: string;
  block?: { number: number; timestamp: number };
  account?: { userID: string; number: number };
}

/** Reads a set by its file name. */
export function readVectors(name: string): VectorSet {
  return JSON.parse(readFileSync(new URL(name, VECTORS), "utf8")) as VectorSet;
}

export function toInput(bytes: Uint8Array): Input {
  const buffer = Buffer.from(bytes);
  const text = buffer.toString();
  return Buffer.from(text).equals(buffer) ? { text } : { base64: buffer.toString("base64") };
}

export function toBytes(input: Input): Uint8Array {
  if ("text" in input) return Buffer.from(input.text);
  if ("base64" in input) return Buffer.from(input.base64, "base64");
  const text = fileText(input.values);
  if (sha256(text) !== input.sha256) throw new Error("The values have a different file.");
  return Buffer.from(text);
}

/** Returns the text of the file of these values, as the library writes it. A value does not have to be a record. */
export function fileText(values: readonly string[]): string {
  const { merkle, lookup } = plainFile(values);
  return JSON.stringify({ merkle, values, lookup });
}

/** The library's verdict. Any error except a `VerificationError` is a defect, and is thrown. */
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
  const { userID, root = "", chainId = 1, contract = `0x${"00".repeat(20)}`, pinned, ...rest } = question;
  const { accounts: hasAccounts, ...others } = rest;
  const expectedPublicKey = others.expectedPublicKey === undefined ? ANY_KEY : base64ToBytes(others.expectedPublicKey);
  const keyType = await loadKeyType(others.keyType ?? "curve41417");
  const query = { ...others, userID, chainId, contract, keyType, expectedPublicKey };
  if (kind === "merkle-file") {
    const { index, record } = await verifyFile(query, root, bytes);
    return { index, record };
  }
  if (kind === "proof")
    return { record: verifyMerkleProof(bytes, { userID, root, expectedPublicKey, keyType }).record };
  // Without a hash, the verifier reports the untrusted block of the bundle.
  const trust = pinned === undefined ? oneEndpoint() : pinnedBlock(pinned);
  const bundle = await verifyBundle(bytes, { ...query, trust, ...(hasAccounts && { accounts: accounts() }) });
  const { number = NaN, timestamp = NaN } = bundle.evidence.block ?? {};
  const { record, root: foundRoot, account } = bundle;
  return { record, root: foundRoot, block: { number, timestamp }, ...(account && { account }) };
}
