import { describeValue } from "../../input/values.ts";
import { invalidNote, parseSignedNote, type SignedNote } from "./signedNote.ts";

/** What an auditor states about a registry at a finalized block. */
export interface Statement {
  chainId: number;
  /** The address of the contract: 0x and 40 lowercase hex digits. */
  contract: string;
  /** The Keccak-256 of the contract's code (EIP-1052): 0x and 64 lowercase hex digits. */
  codeHash: string;
  block: {
    number: number;
    /** The block hash: 0x and 64 lowercase hex digits. */
    hash: string;
    /** The time of the block, in seconds since 1970. */
    timestamp: number;
  };
  /** The number of users who have a root. */
  userCount: number;
  /** The number of roots. */
  rootCount: number;
  /** The number of damaged roots. */
  damagedCount: number;
  /** The damaged roots in ascending order, or the first `MAX_DAMAGED_ROOTS` of them. */
  damagedRoots: readonly DamagedRoot[];
}

/** A root whose file is missing, invalid or does not match the chain. */
export interface DamagedRoot {
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /** The codes of the damage in ascending order (docs/auditing.md). */
  codes: readonly string[];
}

/** A statement with signatures that are not verified yet. */
export interface SignedStatement extends SignedNote {
  statement: Statement;
}

/** Maximum number of damaged roots in a statement, because more of them would not fit in a bundle. */
export const MAX_DAMAGED_ROOTS = 100;
/** Maximum size of a statement file in bytes, which is enough for 100 damaged roots and 64 signatures. */
export const MAX_STATEMENT_BYTES = 2 ** 15;
const SUBJECT = "The statement";
const ORIGIN = "keyroot/statement-v1";
/** A regular expression for a whole number of at most 16 digits without leading zeros. */
const NUMBER = "(0|[1-9][0-9]{0,15})";
const HASH = "(0x[0-9a-f]{64})";
const HEAD = new RegExp(
  [
    `^${ORIGIN}`,
    `chain ${NUMBER}`,
    "contract (0x[0-9a-f]{40})",
    `code ${HASH}`,
    `block ${NUMBER} ${HASH}`,
    `time ${NUMBER}`,
    `users ${NUMBER}`,
    `roots ${NUMBER}`,
    `damaged ${NUMBER}\\n`,
  ].join("\\n"),
);
const DAMAGED = /^root ([0-9a-f]{64})((?: [A-Z][A-Z_]{0,39}){1,8})$/;

/** Returns the text that auditors sign (docs/formats.md, "Statement"). */
export function serializeStatement(statement: Statement): string {
  const { chainId, contract, codeHash, block, userCount, rootCount, damagedCount, damagedRoots } = statement;
  return [
    ORIGIN,
    `chain ${chainId}`,
    `contract ${contract}`,
    `code ${codeHash}`,
    `block ${block.number} ${block.hash}`,
    `time ${block.timestamp}`,
    `users ${userCount}`,
    `roots ${rootCount}`,
    `damaged ${damagedCount}`,
    ...damagedRoots.map(({ root, codes }) => ["root", root, ...codes].join(" ")),
    "",
  ].join("\n");
}

/**
 * Parses an auditors' statement file. It may come from any source.
 * @param source the received bytes
 * @throws VerificationError STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8, step "anchor" or "file"
 */
export function parseSignedStatement(source: Uint8Array): SignedStatement {
  const note = parseSignedNote(SUBJECT, source, MAX_STATEMENT_BYTES);
  return { ...note, statement: parseText(note.text) };
}

function parseText(text: string): Statement {
  const [head = "", chainId, contract = "", codeHash = "", number, hash = "", ...counts] = HEAD.exec(text) ?? [];
  const [timestamp = NaN, userCount = NaN, rootCount = NaN, damagedCount = NaN] = counts.map(Number);
  const statement: Statement = {
    ...{ chainId: Number(chainId), contract, codeHash },
    block: { number: Number(number), hash, timestamp },
    ...{ userCount, rootCount, damagedCount },
    damagedRoots: text.slice(head.length).split("\n").slice(0, -1).map(parseDamaged),
  };
  // Each statement has only one valid text, so auditors with equal results sign the same bytes.
  if (head !== "" && isConsistent(statement) && serializeStatement(statement) === text) return statement;
  throw invalidNote(SUBJECT, "Its text does not match the format in docs/formats.md.", describeValue(text));
}

function parseDamaged(line: string): DamagedRoot {
  const [, root = "", codes = ""] = DAMAGED.exec(line) ?? [];
  return { root, codes: codes.split(" ").slice(1) };
}

function isConsistent({ chainId, block, userCount, rootCount, damagedCount, damagedRoots }: Statement): boolean {
  return (
    [chainId, block.number, block.timestamp, userCount, rootCount, damagedCount].every(Number.isSafeInteger) &&
    damagedCount <= rootCount &&
    damagedRoots.length === Math.min(damagedCount, MAX_DAMAGED_ROOTS) &&
    isAscending(damagedRoots.map(({ root }) => root)) &&
    damagedRoots.every(({ codes }) => isAscending(codes))
  );
}

function isAscending(texts: readonly string[]): boolean {
  return texts.every((text, i) => i === 0 || text > (texts[i - 1] ?? text));
}
