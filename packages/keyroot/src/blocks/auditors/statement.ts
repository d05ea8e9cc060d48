import { base64 } from "../../bytes/base64.ts";
import { bytesToHex, hexToBytes } from "../../bytes/hex.ts";
import { describeValue } from "../../input/describeValue.ts";
import { invalidNote, parseSignedNote, type SignedNote } from "./signedNote.ts";

/** The result of a successful audit of all roots in a registry up to a block. */
export interface Statement {
  chainId: number;
  /** The address of the contract: 0x and 40 lowercase hex digits. */
  contract: string;
  block: {
    number: number;
    /** The block hash: 0x and 64 lowercase hex digits. */
    hash: string;
  };
  /** The number of users who have a root. */
  userCount: number;
  /** The tree of all roots in the order of the chain (RFC 6962). */
  tree: {
    /** The number of roots in the tree. */
    size: number;
    /** The hash of the tree, 64 lowercase hex digits. */
    hash: string;
  };
}

/** A statement with signatures that are not verified yet. */
export interface SignedStatement extends SignedNote {
  statement: Statement;
}

/**
 * Maximum size of a statement file in bytes. The text has about 400 bytes, and each signature line has about 150 bytes.
 */
export const MAX_STATEMENT_BYTES = 2 ** 14;
const SUBJECT = "The statement";
const ORIGIN = "github.com/keyroot/keyroot/statement-v1";
/** A regular expression for a whole number of at most 16 digits without leading zeros. */
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

/**
 * Returns the text that auditors sign (docs/statement-formats.md, "Statement"). The text is a checkpoint with four
 * extension lines (C2SP tlog-checkpoint).
 */
export function serializeStatement({ chainId, contract, block, userCount, tree }: Statement): string {
  return [
    `${ORIGIN}/${chainId}/${contract}`,
    tree.size,
    base64.encode(hexToBytes(tree.hash)),
    `chain ${chainId}`,
    `contract ${contract}`,
    `block ${block.number} ${block.hash}`,
    `users ${userCount}`,
    "",
  ].join("\n");
}

/**
 * Parses a statement file, which may come from any source. Ignores signatures that are not timestamped Ed25519
 * cosignatures.
 * @param source the received bytes
 * @throws VerificationError STATEMENT_INVALID, FILE_TOO_LARGE, FILE_NOT_UTF8, step "anchor" or "file"
 */
export function parseSignedStatement(source: Uint8Array): SignedStatement {
  const note = parseSignedNote(SUBJECT, source, MAX_STATEMENT_BYTES);
  return { ...note, statement: parseText(note.text) };
}

function parseText(text: string): Statement {
  const [, size, hash = "", chainId, contract = "", number, blockHash = "", userCount] = TEXT.exec(text) ?? [];
  const statement: Statement = {
    chainId: Number(chainId),
    contract,
    block: { number: Number(number), hash: blockHash },
    userCount: Number(userCount),
    tree: { size: Number(size), hash: bytesToHex(base64.decode(hash) ?? new Uint8Array()) },
  };
  const numbers = [statement.chainId, statement.block.number, statement.userCount, statement.tree.size];
  // Each statement has only one valid text, so all auditors sign the same bytes.
  if (numbers.every(Number.isSafeInteger) && serializeStatement(statement) === text) return statement;
  throw invalidNote(SUBJECT, "Its text does not match the format in docs/statement-formats.md.", describeValue(text));
}
