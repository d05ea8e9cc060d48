import { decodeUtf8, encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import type { Evidence } from "../../evidence.ts";
import type { KeyRecord } from "../../identity/keyRecord.ts";
import type { ExpectedBytes } from "../../identity/expectedKey.ts";
import type { UserID } from "../../identity/userID.ts";
import { parseDocument } from "../../input/document.ts";
import { ShapeChecker } from "../../input/shapeChecker.ts";
import { checkMerkleFile, type MerkleFile } from "../../merkle/file.ts";
import { MERKLE_ROOT } from "../../merkle/hash.ts";
import { makeMerkleProof, type MerkleProof, parseMerkleProof, verifyMerkleProof } from "../../merkle/proof.ts";
import { parseRoots, proveInclusion, serializeRootEntry, verifyInclusion } from "./rootTree.ts";
import { MAX_STATEMENT_BYTES, parseSignedStatement } from "./statement.ts";
import { type AuditorOptions, type StatementPlace, verifyStatement } from "./verifyStatement.ts";

/**
 * Proof of a user's published key under a statement. It needs neither the chain nor the whole file. It proves that the root
 * is a leaf of the statement's tree, that all users in the root's file have this root, and that the user's record is in the
 * root's tree.
 */
export interface Membership {
  format: typeof FORMAT;
  /** The statement's file. */
  statement: string;
  /** The position of the root in the statement's tree. */
  index: number;
  /** The number of records in the root's file. It equals the number of users who have this root. */
  recordCount: number;
  /** The inclusion proof of the root's leaf, from the leaf up: 64 lowercase hex digits each. */
  path: readonly string[];
  /** Proves that the record is under the root. */
  proof: MerkleProof;
}

/** A user's key that auditors' statement proves. */
export interface VerifiedMembership {
  record: KeyRecord;
  /** 105 bytes. */
  publicKey: Uint8Array;
  root: string;
  evidence: Evidence;
}

const FORMAT = "keyroot-membership-v1";
const LIMITS = { maxBytes: MAX_STATEMENT_BYTES + 2 ** 14, maxDepth: 4 };
/** Enough for 2^40 roots. */
const MAX_PATH = 40;
const shape = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new VerificationError("file", "PROOF_SHAPE", message, details),
);

/**
 * Makes a user's membership proof.
 * @param statement a statement's file; @param roots the list of roots beside it; @param file the root's file
 * @throws VerificationError STATEMENT_TREE_MISMATCH if the root is not in the tree, or its file has superseded records: then
 * only the whole file and a storage proof show the user's key; USER_NOT_IN_FILE, and as `parseSignedStatement`; ArgumentError
 * ARGUMENT_INVALID
 */
export function makeMembership(statement: Uint8Array, roots: Uint8Array, file: MerkleFile, userID: UserID): Membership {
  checkMerkleFile(file);
  const { tree } = parseSignedStatement(statement).statement;
  const entries = parseRoots(roots, tree);
  const index = entries.findIndex(({ root }) => root === file.tree.root);
  const { recordCount, userCount } = entries[index] ?? { recordCount: 0, userCount: -1 };
  if (recordCount !== userCount)
    throw notAMember(`The root ${file.tree.root} is not in the statement's tree, or has superseded records.`);
  const path = proveInclusion(entries.map(serializeRootEntry), index);
  const proof = makeMerkleProof(file, userID);
  return { format: FORMAT, statement: decodeUtf8(statement), index, recordCount, path, proof };
}

/**
 * Verifies a membership proof from any source, without any request. All records of the file are of users who have this root, so
 * the file has no second record of this user that another root supersedes.
 * @param source the bytes as received, or the value that they parse to
 * @param now the current time in ms since 1970
 * @throws VerificationError PROOF_SHAPE, FILE_TOO_LARGE, STATEMENT_TREE_MISMATCH, and as `verifyStatement` and
 * `verifyMerkleProof`; ArgumentError as these
 * @example
 * const { publicKey } = verifyMembership(bytes, { userID, chainId: 1, contract, expectedPublicKey }, { keys, threshold: 2 });
 */
export function verifyMembership(
  source: unknown,
  query: StatementPlace & { userID: UserID; expectedPublicKey: ExpectedBytes },
  auditors: AuditorOptions,
  now: number = Date.now(),
): VerifiedMembership {
  const document = parseDocument("The membership proof", source, LIMITS);
  const keys = ["format", "statement", "index", "recordCount", "path", "proof"] as const;
  const parts = shape.object("The membership proof", document, keys);
  shape.oneOf("format", parts.format, [FORMAT]);
  const statement = encodeUtf8(shape.text("statement", parts.statement));
  const index = shape.count("index", parts.index);
  const recordCount = shape.count("recordCount", parts.recordCount);
  const path = shape.list("path", parts.path, MAX_PATH, (where, hash) => shape.text(where, hash, MERKLE_ROOT));
  const { root } = parseMerkleProof(parts.proof).proof;
  const verified = verifyStatement(statement, query, auditors, now);
  // The number of users equals the number of records, so no record of the file is superseded.
  const leaf = serializeRootEntry({ root, recordCount, userCount: recordCount });
  if (!verifyInclusion(leaf, index, path, verified.tree))
    throw notAMember(`The root ${root} is not in the statement's tree.`);
  const { userID, expectedPublicKey } = query;
  const { record, publicKey } = verifyMerkleProof(parts.proof, { userID, root, expectedPublicKey });
  const evidence: Evidence = {
    anchor: "auditors",
    storageProof: false,
    auditors: verified.auditors,
    uniqueness: "auditors",
  };
  return { record, publicKey, root, evidence };
}

function notAMember(message: string): VerificationError {
  return new VerificationError("root", "STATEMENT_TREE_MISMATCH", message);
}
