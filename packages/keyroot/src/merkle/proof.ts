import { describeValue } from "../input/describeValue.ts";
import { ArgumentError, VerificationError, verifying } from "../errors.ts";
import { verifyKeyRecord } from "../identity/verifyKeyRecord.ts";
import { type KeyRecord, parseKeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { parseDocument, Shape } from "../input/shape.ts";
import type { MerkleFile } from "./file.ts";
import { sha256Hex } from "../bytes/platform.ts";

/** That one record is under a root: the record, and what to hash it with on the way up. */
export interface MerkleProof {
  format: typeof FORMAT;
  /** The record's exact text, whose hash is the leaf. */
  value: string;
  /** The other child of each node on the way, from the leaf's parent up to the root. */
  siblings: readonly Sibling[];
  /** 64 hex digits in lower case. */
  root: string;
}

/** A node's other child. A node without one is paired with itself, and is then its own sibling on the right. */
export interface Sibling {
  side: "left" | "right";
  /** 64 hex digits in lower case. */
  hash: string;
}

/** Whose key a proof is asked for, and under which root. */
export interface ProofQuery {
  userID: UserID;
  /** 64 hex digits in lower case: the root that the contract keeps for the user. */
  root: string;
  /** The 105 bytes that a server handed out as this user's public key, where there are any. */
  expectedPublicKey?: Uint8Array | undefined;
}

/** A public key whose record is under a root. */
export interface ProvenKey {
  record: KeyRecord;
  /** The key of the record: 105 bytes. */
  publicKey: Uint8Array;
  root: string;
  /** The same root may be over a second record of this user: that there is none, only the whole file shows. */
  uniqueness: "unchecked";
}

const FORMAT = "keyroot-proof-v1";
const SHAPE = new Shape((...why) => new VerificationError("file", "PROOF_SHAPE", ...why));
/** Some 2 kB are needed; the objects stand three deep: proof, `siblings`, sibling. */
const LIMITS = { maxBytes: 2 ** 14, maxDepth: 3 };
/** A tree has 1,000,000 leaves at the most. */
const MAX_SIBLINGS = 20;
const HASH = /^[0-9a-f]{64}$/;
/** Two hashes in a row: such a value's leaf would be the parent of two others. */
const LOOKS_LIKE_NODE = /^[0-9a-f]{128}$/;

/**
 * The proof of a user's record in a file.
 * @throws VerificationError USER_NOT_IN_FILE, step "record"
 */
export function makeProof({ lookup, values, tree }: MerkleFile, userID: UserID): MerkleProof {
  const index = lookup.get(userID);
  const value = index === undefined ? undefined : values[index];
  if (index === undefined || value === undefined) {
    const message = `The file ${tree.root}.json has no record of the user ${describeValue(userID)}.`;
    throw new VerificationError("record", "USER_NOT_IN_FILE", message, { expected: userID });
  }
  const siblings = Array.from({ length: tree.height - 1 }, (_, level): Sibling => {
    const hashes = tree.hashes(level);
    const node = index >> level;
    const [own = "", hash = own] = [hashes[node], hashes[node ^ 1]];
    return { side: node % 2 === 0 ? "right" : "left", hash };
  });
  return { format: FORMAT, value, siblings, root: tree.root };
}

/**
 * Checks the form of a proof, and of the record in it; nothing else.
 * @param source the bytes as they were served, or what they parse to
 * @throws VerificationError PROOF_SHAPE, FILE_TOO_LARGE, FILE_NOT_UTF8, and as `parseJson`, step "file";
 * VALUE_LOOKS_LIKE_NODE, and as `parseKeyRecord`, step "record"
 */
export function parseProof(source: unknown): { proof: MerkleProof; record: KeyRecord } {
  const document = parseDocument("The proof", source, LIMITS);
  const parts = SHAPE.object("The proof", document, ["format", "value", "siblings", "root"]);
  SHAPE.text("format", parts.format, /^keyroot-proof-v1$/);
  const value = SHAPE.text("value", parts.value);
  const siblings = SHAPE.list("siblings", parts.siblings, MAX_SIBLINGS, parseSibling);
  const root = SHAPE.text("root", parts.root, HASH);
  if (LOOKS_LIKE_NODE.test(value)) {
    const message = "value is two hashes in a row: its leaf would be the parent of two others.";
    throw new VerificationError("record", "VALUE_LOOKS_LIKE_NODE", message, { actual: value });
  }
  const record = verifying("record", "value", () => parseKeyRecord(value));
  return { proof: { format: FORMAT, value, siblings, root }, record };
}

/**
 * Judges a proof that nobody vouches for: whether it shows that this user's record is under this root. That it is the
 * only one of this user, no proof can show.
 * @param source the bytes as they were served, or what they parse to
 * @throws VerificationError as `parseProof`; USER_MISMATCH, and as `checkKeyRecord`, step "record"; ROOT_MISMATCH, step
 * "tree"; KEY_MISMATCH, step "key"
 * @throws ArgumentError HASH_INVALID
 */
export function verifyProof(source: unknown, { userID, root, expectedPublicKey }: ProofQuery): ProvenKey {
  if (!HASH.test(root)) {
    const message = `${describeValue(root)} is not a root: expected 64 hex digits in lower case, without 0x.`;
    throw new ArgumentError("HASH_INVALID", message, { expected: HASH.source, actual: root });
  }
  const { proof, record } = parseProof(source);
  expectUser(record, userID);
  for (const actual of [proof.root, climb(proof)]) {
    if (actual === root) continue;
    const message = `The proof has the root ${actual}, expected was ${root}.`;
    throw new VerificationError("tree", "ROOT_MISMATCH", message, { expected: root, actual });
  }
  const publicKey = verifyKeyRecord("value", record, expectedPublicKey);
  return { record, publicKey, root, uniqueness: "unchecked" };
}

/** @throws VerificationError USER_MISMATCH, step "record", unless the record is this user's */
export function expectUser({ userID: actual }: KeyRecord, expected: UserID): void {
  if (actual === expected) return;
  const message = `The record is of the user ${actual}, asked for was ${describeValue(expected)}.`;
  throw new VerificationError("record", "USER_MISMATCH", message, { expected, actual });
}

/** The root that the siblings lead to from the value's leaf. */
function climb({ value, siblings }: MerkleProof): string {
  return siblings.reduce(
    (node, { side, hash }) => sha256Hex(side === "left" ? hash + node : node + hash),
    sha256Hex(value),
  );
}

function parseSibling(where: string, item: unknown): Sibling {
  const { side, hash } = SHAPE.object(where, item, ["side", "hash"]);
  return {
    side: SHAPE.text(`${where}.side`, side, /^(?:left|right)$/) as Sibling["side"],
    hash: SHAPE.text(`${where}.hash`, hash, HASH),
  };
}
