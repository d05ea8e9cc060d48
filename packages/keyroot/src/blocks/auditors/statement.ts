import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUtf8 } from "../../engine/utf8.ts";
import { base64ToBytes, bytesToBase64 } from "../../bytes/base64.ts";
import { bytesToHex, hexToBytes } from "../../bytes/platform.ts";
import { KeyrootError, VerificationError } from "../../errors.ts";
import { decodeDocument } from "../../input/document.ts";
import { describeValue } from "../../input/describeValue.ts";

/** The result of an audit that passed: all roots of a registry as of one block. */
export interface Statement {
  chainId: number;
  /** 0x and 40 lowercase hex digits. */
  contract: string;
  block: {
    number: number;
    /** 0x and 64 lowercase hex digits. */
    hash: string;
  };
  /** The number of users who have a root. */
  userCount: number;
  /** The tree of all roots in the order of the chain (RFC 6962). */
  tree: {
    /** The number of roots. */
    size: number;
    /** 64 lowercase hex digits. */
    hash: string;
  };
}

/** One auditor's signature of a statement. It is not verified. */
export interface Cosignature {
  name: string;
  /** 8 lowercase hex digits. */
  keyID: string;
  /** When the auditor signed, in s since 1970. */
  time: number;
  /** 64 bytes. */
  signature: Uint8Array;
}

/** A statement with signatures. They are not verified. */
export interface SignedStatement {
  statement: Statement;
  /** The signed text. */
  text: string;
  cosignatures: Cosignature[];
}

/** The largest file of a statement in bytes. The text has about 400, a signature line about 150. */
export const MAX_STATEMENT_BYTES = 2 ** 14;
const MAX_LINES = 64;
const ORIGIN = "github.com/keyroot/keyroot/statement-v1";
/** A whole number below 2^53 without leading zeros, if it is written again without a change. */
const NUMBER = "(0|[1-9][0-9]{0,15})";
const TEXT = new RegExp(
  [
    "^[^\\n]+",
    NUMBER,
    "([A-Za-z0-9+/]{43}=)",
    `chain ${NUMBER}`,
    "contract (0x[0-9a-f]{40})",
    `block ${NUMBER} (0x[0-9a-f]{64})`,
    `users ${NUMBER}\\n$`,
  ].join("\\n"),
);
const LINE = /^— ([^ ]+) ([A-Za-z0-9+/]+={0,2})$/;
/** A key id (4 bytes), a time (8) and a signature (64): C2SP tlog-cosignature, "Format". */
const COSIGNATURE_BYTES = 76;

/**
 * The text that auditors sign: a checkpoint (C2SP tlog-checkpoint) with four extension lines (docs/proof-formats.md,
 * "Statement").
 */
export function serializeStatement({ chainId, contract, block, userCount, tree }: Statement): string {
  return [
    `${ORIGIN}/${chainId}/${contract}`,
    tree.size,
    bytesToBase64(hexToBytes(tree.hash)),
    `chain ${chainId}`,
    `contract ${contract}`,
    `block ${block.number} ${block.hash}`,
    `users ${userCount}`,
    "",
  ].join("\n");
}

/** The bytes of a signature (C2SP tlog-cosignature, "Ed25519 signed message"). @param time in s since 1970 */
export function cosignedMessage(text: string, time: number): Uint8Array {
  return encodeUtf8(`cosignature/v1\ntime ${time}\n${text}`);
}

/** Writes a statement's file: the text, an empty line, and one line for each signature (C2SP signed-note). */
export function serializeSignedStatement({
  text,
  cosignatures,
}: Pick<SignedStatement, "text" | "cosignatures">): string {
  const lines = cosignatures.map(({ name, keyID, time, signature }) => {
    const stamp = hexToBytes(time.toString(16).padStart(16, "0"));
    return `— ${name} ${bytesToBase64(concatBytes(hexToBytes(keyID), stamp, signature))}\n`;
  });
  return `${text}\n${lines.join("")}`;
}

/**
 * Parses a statement's file from an untrusted source. Signatures of other kinds are left out.
 * @param source the bytes as received
 * @throws VerificationError STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8, step "anchor" or "file"
 */
export function parseSignedStatement(source: Uint8Array): SignedStatement {
  const whole = decodeDocument("The statement", source, MAX_STATEMENT_BYTES);
  const end = whole.indexOf("\n\n");
  const text = whole.slice(0, end + 1);
  const lines = whole.slice(end + 2).split("\n");
  if (end === -1 || lines.pop() !== "")
    throw invalidStatement("It must be a text, an empty line, and signature lines.");
  if (lines.length > MAX_LINES) throw invalidStatement(`It has more than ${MAX_LINES} signature lines.`);
  return { statement: parseText(text), text, cosignatures: lines.flatMap(parseLine) };
}

/** The error for a statement that is malformed, or has a false signature. */
export function invalidStatement(reason: string, actual?: unknown): VerificationError {
  return new VerificationError("anchor", "STATEMENT_INVALID", `The statement is invalid. ${reason}`, { actual });
}

function parseText(text: string): Statement {
  const [, size, hash = "", chainId, contract = "", number, blockHash = "", userCount] = TEXT.exec(text) ?? [];
  const statement: Statement = {
    chainId: Number(chainId),
    contract,
    block: { number: Number(number), hash: blockHash },
    userCount: Number(userCount),
    tree: { size: Number(size), hash: hash && bytesToHex(base64ToHash(hash)) },
  };
  const numbers = [statement.chainId, statement.block.number, statement.userCount, statement.tree.size];
  // There is one text for each statement: auditors sign equal bytes.
  if (numbers.every(Number.isSafeInteger) && serializeStatement(statement) === text) return statement;
  throw invalidStatement("Its text does not have the form of docs/proof-formats.md.", describeValue(text));
}

function base64ToHash(text: string): Uint8Array {
  try {
    return base64ToBytes(text);
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    throw invalidStatement("The hash of its tree is not canonical base64.", text);
  }
}

/** Parses a signature line. @returns an empty array for a signature of another kind */
function parseLine(line: string): Cosignature[] {
  const [, name = "", encoded = ""] = LINE.exec(line) ?? [];
  if (name === "") throw invalidStatement("A signature line is malformed.", describeValue(line));
  let bytes: Uint8Array;
  try {
    bytes = base64ToBytes(encoded);
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    throw invalidStatement("A signature is not canonical base64.", describeValue(line));
  }
  if (bytes.length !== COSIGNATURE_BYTES) return [];
  const time = parseInt(bytesToHex(bytes.subarray(4, 12)), 16);
  if (!Number.isSafeInteger(time)) throw invalidStatement("The time of a signature is too large.", describeValue(line));
  return [{ name, keyID: bytesToHex(bytes.subarray(0, 4)), time, signature: bytes.slice(12) }];
}
