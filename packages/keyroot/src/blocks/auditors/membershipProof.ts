import { decodeUtf8, encodeUtf8 } from "../../engine/utf8.ts";
import { VerificationError } from "../../errors.ts";
import type { Evidence } from "../../evidence.ts";
import type { KeyRecord } from "../../identity/serializedRecord.ts";
import type { ExpectedBytes } from "../../identity/compareKey.ts";
import type { UserID } from "../../identity/userID.ts";
import { parseDocument } from "../../input/document.ts";
import { ShapeChecker } from "../../input/shapeChecker.ts";
import { checkMerkleFile } from "../../merkle/file.ts";
import type { MerkleFile } from "../../merkle/fileOf.ts";
import { MERKLE_ROOT } from "../../merkle/hash.ts";
import { makeMerkleProof, type MerkleProof, parseMerkleProof, verifyMerkleProof } from "../../merkle/proof.ts";
import { parseRoots, proveInclusion, serializeRootEntry, verifyInclusion } from "./rootTree.ts";
import { MAX_STATEMENT_BYTES, parseSignedStatement } from "./statement.ts";
import { MAX_HEIGHT } from "./subtrees.ts";
import { type AuditorOptions, type StatementPlace, verifyStatement } from "./verifyStatement.ts";

/**
 * A short proof of a user's published key. To verify the proof, a reader needs only the auditors' public keys. The
 * proof shows three facts:
 * - The root is a leaf of the statement's tree.
 * - All users in the root's file have this root.
 * - The root's tree contains the user's record.
 */
export interface Membership {
  format: typeof FORMAT;
  /** The auditors' statement as a file. */
  statement: string;
  /** The index of the root in the statement's tree. */
  index: number;
  /** The number of records in the root's file, which equals the number of users with this root. */
  recordCount: number;
  /** The inclusion proof for the root's leaf. Each hash has 64 lowercase hex digits. The leaf's sibling comes first. */
  path: readonly string[];
  /** The proof that the Merkle root includes the record. */
  proof: MerkleProof;
}

/** A user's key that an auditors' statement proves. */
export interface VerifiedMembership {
  record: KeyRecord;
  /** The public key, 105 bytes. */
  publicKey: Uint8Array;
  root: string;
  evidence: Evidence;
}

const FORMAT = "keyroot-membership-v1";
const LIMITS = { maxBytes: MAX_STATEMENT_BYTES + 2 ** 14, maxDepth: 4 };
const shape = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new VerificationError("file", "PROOF_SHAPE", message, details),
);

/**
 * Makes a user's membership proof.
 * @param statement the file of a statement; @param roots the statement's list of roots; @param file the root's file
 * @throws VerificationError STATEMENT_TREE_MISMATCH if the statement's tree does not contain the root, or if the root's
 * file has superseded records. After this error, verify the user's key with the whole file and a storage proof.
 * USER_NOT_IN_FILE, and the errors of `parseSignedStatement`; ArgumentError ARGUMENT_INVALID
 */
export function makeMembership(statement: Uint8Array, roots: Uint8Array, file: MerkleFile, userID: UserID): Membership {
  checkMerkleFile(file);
  const { tree } = parseSignedStatement(statement).statement;
  const entries = parseRoots(roots, tree);
  const index = entries.findIndex(({ root }) => root === file.tree.root);
  const { recordCount, userCount } = entries[index] ?? { recordCount: 0, userCount: -1 };
  if (recordCount !== userCount)
    throw notAMember(
      `The root ${file.tree.root} is not in the statement's tree, or its file has superseded records. Verify the key with the whole file.`,
    );
  const path = proveInclusion(entries.map(serializeRootEntry), index);
  const proof = makeMerkleProof(file, userID);
  return { format: FORMAT, statement: decodeUtf8(statement), index, recordCount, path, proof };
}

/**
 * Verifies a membership proof offline. The proof may come from any source. All users in the root's file have this root,
 * so the file contains no superseded record of the user.
 * @param source the received bytes, or the parsed JSON
 * @param now the current time in ms since 1970
 * @throws VerificationError PROOF_SHAPE, FILE_TOO_LARGE, STATEMENT_TREE_MISMATCH, and the errors of `verifyStatement`
 * and `verifyMerkleProof`; ArgumentError as these two functions
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
  const path = shape.list("path", parts.path, MAX_HEIGHT, (where, hash) => shape.text(where, hash, MERKLE_ROOT));
  const { root } = parseMerkleProof(parts.proof).proof;
  const verified = verifyStatement(statement, query, auditors, now);
  // This leaf has as many users as records. If the tree contains the leaf, every user in the file has this root.
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
