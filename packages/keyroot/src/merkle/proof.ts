import type { Bytes } from "../bytes/base64.ts";
import { describeValue, isBytes } from "../input/values.ts";
import { VerificationError } from "../errors.ts";
import { ANY_KEY, type ExpectedBytes } from "../identity/compareKey.ts";
import { verifyKeyRecord } from "../identity/checkKeyRecord.ts";
import { curve41417 } from "../identity/keyTypes/curve41417.ts";
import { checkKeyType, type KeyType } from "../identity/keyTypes/keyType.ts";
import { parseKeyRecord } from "../identity/keyRecord.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import { parseUserID, type UserID } from "../identity/userID.ts";
import { parseDocument } from "../input/document.ts";
import { checkNames, checkObject, invalidArgument } from "../input/options.ts";
import { ShapeChecker } from "../input/shapeChecker.ts";
import { checkUntrusted } from "../input/untrusted.ts";
import { checkMerkleFile } from "./file.ts";
import { indexOfUser, type MerkleFile } from "./fileOf.ts";
import { hashAt } from "./tree.ts";
import { checkNotNode } from "./checkNotNode.ts";
import { checkMerkleRoot, hashChildren, hashLeaf, MERKLE_ROOT } from "./hash.ts";

/** An inclusion proof, which shows that a Merkle tree includes a record. */
export interface MerkleProof {
  format: typeof FORMAT;
  /** The exact text of the record, whose hash is the leaf. */
  value: string;
  /** The siblings of all nodes on the path from the leaf to the root, starting with the leaf's. */
  siblings: readonly Sibling[];
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
}

/** The sibling of a node. A node that is paired with itself is its own right sibling. */
export interface Sibling {
  side: "left" | "right";
  /** The hash of the sibling, 64 lowercase hex digits. */
  hash: string;
}

/** The user and the root that a proof must have. */
export interface ProofQuery {
  userID: UserID;
  /** The root that the contract stores for the user, 64 lowercase hex digits. */
  root: string;
  /** The key that a server returned for this user. `ANY_KEY` accepts any key. */
  expectedPublicKey: ExpectedBytes;
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType?: KeyType | undefined;
}

/** A public key that an inclusion proof confirms. */
export interface ProvenKey {
  record: KeyRecord;
  /** The public key in the record. */
  publicKey: Bytes;
  root: string;
  /** The tree may contain a second record of this user, because only the whole file shows all records. */
  uniqueness: "unchecked";
}

const FORMAT = "keyroot-proof-v1";
/**
 * The limits on the size and depth of a proof. A proof usually has about 2 kB, and three levels: the proof itself,
 * `siblings`, and a sibling.
 */
const LIMITS = { maxBytes: 2 ** 14, maxDepth: 3 };
/** Maximum number of siblings, which is enough for a tree of 1,000,000 leaves. */
const MAX_SIBLINGS = 20;
const shape = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new VerificationError("file", "PROOF_SHAPE", message, details),
);

/**
 * Makes the inclusion proof for a user's record in a Merkle-tree file.
 * @throws VerificationError USER_NOT_IN_FILE, step "record"
 * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID
 * @example
 * const proof = makeMerkleProof(file, userID);
 * await writeFile(`${userID}.json`, JSON.stringify(proof));
 */
export function makeMerkleProof(file: MerkleFile, userID: UserID): MerkleProof {
  const { values, tree } = checkMerkleFile(file);
  const index = indexOfUser(tree.root, file, checkIsText(userID));
  const [value] = values.slice(index, index + 1) as [string];
  const siblings: Sibling[] = [];
  for (let level = 0; level < tree.height - 1; level++) {
    const hashes = tree.joinedHashes(level);
    const node = index >> level;
    // A node without a neighbor is paired with itself.
    const hash = hashAt(hashes, node ^ 1) || hashAt(hashes, node);
    siblings.push({ side: node % 2 === 0 ? "right" : "left", hash });
  }
  return { format: FORMAT, value, siblings, root: tree.root };
}

/**
 * Parses an inclusion proof and the record in it. Only the form of both is checked. To verify the proof, call
 * `verifyMerkleProof`.
 * @param source the received bytes, or the parsed JSON
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws VerificationError PROOF_SHAPE, FILE_TOO_LARGE, FILE_NOT_UTF8, or an error of `parseJson`, step "file";
 * VALUE_LOOKS_LIKE_NODE, or an error of `parseKeyRecord`, step "record"
 * @example
 * const { proof, record } = parseMerkleProof(await readFile(`${userID}.json`));
 */
export function parseMerkleProof(
  source: unknown,
  keyType: KeyType = curve41417,
): { proof: MerkleProof; record: KeyRecord } {
  checkKeyType(keyType);
  const document = parseDocument("The proof", source, LIMITS);
  const parts = shape.object("The proof", document, ["format", "value", "siblings", "root"]);
  shape.oneOf("format", parts.format, [FORMAT]);
  const value = shape.text("value", parts.value);
  const siblings = shape.list("siblings", parts.siblings, MAX_SIBLINGS, parseSibling);
  const root = shape.text("root", parts.root, MERKLE_ROOT);
  checkNotNode("record", "value", value);
  const record = checkUntrusted("record", "value", () => parseKeyRecord(value, keyType));
  return { proof: { format: FORMAT, value, siblings, root }, record };
}

/**
 * Verifies an untrusted inclusion proof. It must contain a record of this user with a valid key, and show that the tree
 * with this root includes this record. Only the whole file can show that the tree does not have a second record of the
 * user.
 * @param source the received bytes, or the parsed JSON
 * @throws VerificationError as `parseMerkleProof`; USER_MISMATCH, or an error of `checkKeyRecord`, step "record";
 * ROOT_MISMATCH, step "tree"; KEY_MISMATCH, step "key"
 * @throws ArgumentError HASH_INVALID, USER_ID_INVALID, ARGUMENT_INVALID
 * @example
 * const { publicKey } = verifyMerkleProof(await readFile(`${userID}.json`), { userID, root, expectedPublicKey });
 */
export function verifyMerkleProof(source: unknown, query: ProofQuery): ProvenKey {
  const { userID, root, expectedPublicKey, keyType } = checkQuery(query);
  const { proof, record } = parseMerkleProof(source, keyType);
  verifyRecordUser(record, userID);
  for (const actual of [proof.root, computeRoot(proof)]) {
    if (actual === root) continue;
    const message = `The root of the proof is ${actual}, but the expected root is ${root}.`;
    throw new VerificationError("tree", "ROOT_MISMATCH", message, { expected: root, actual });
  }
  const publicKey = verifyKeyRecord("value", record, expectedPublicKey, keyType);
  return { record, publicKey, root, uniqueness: "unchecked" };
}

/** Checks that a record belongs to the expected user. @throws VerificationError USER_MISMATCH, step "record" */
export function verifyRecordUser({ userID: actual }: KeyRecord, expected: UserID): void {
  if (actual === expected) return;
  const message = `The record belongs to the user ${actual}, but the expected user is ${describeValue(expected)}.`;
  throw new VerificationError("record", "USER_MISMATCH", message, { expected, actual });
}

/** Computes the root from the value and the siblings of a proof. */
function computeRoot({ value, siblings }: MerkleProof): string {
  return siblings.reduce(
    (node, { side, hash }) => (side === "left" ? hashChildren(hash, node) : hashChildren(node, hash)),
    hashLeaf(value),
  );
}

/** Checks that a user id is a text. Any text is accepted, because a malformed id belongs to no user. */
function checkIsText(userID: unknown): UserID {
  return typeof userID === "string" ? userID : parseUserID(userID);
}

function checkQuery(query: ProofQuery): ProofQuery {
  const { userID, root, expectedPublicKey, keyType } = checkObject(
    "The query",
    query,
    "an object with userID and root",
  );
  checkNames("The query's options", query, ["userID", "root", "expectedPublicKey", "keyType"]);
  if (expectedPublicKey !== ANY_KEY && !isBytes(expectedPublicKey)) {
    throw invalidArgument("The expectedPublicKey option", "a Uint8Array or ANY_KEY", expectedPublicKey);
  }
  return { userID: checkIsText(userID), root: checkMerkleRoot(root), expectedPublicKey, keyType };
}

function parseSibling(path: string, item: unknown): Sibling {
  const { side, hash } = shape.object(path, item, ["side", "hash"]);
  return {
    side: shape.oneOf(`${path}.side`, side, ["left", "right"]),
    hash: shape.text(`${path}.hash`, hash, MERKLE_ROOT),
  };
}
