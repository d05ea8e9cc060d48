import { bytesToHex } from "../../bytes/hex.ts";
import { base64ToBytes } from "../../bytes/base64.ts";
import { VerificationError } from "../../errors.ts";
import { decodeDocument } from "../../input/untrusted.ts";
import { hashLeafText, hashPair, parseRootEntry, type RootEntry } from "./rootTree.ts";
import { MAX_HEIGHT, subtreeOf, subtreesOf } from "./subtrees.ts";

/** Maximum size of a root proof file or a subtrees file in bytes. This size is enough for 40 hashes and a leaf. */
export const MAX_ROOT_PROOF_BYTES = 2 ** 12;
/** A hash of 32 bytes in canonical base64. */
const HASH = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

const NONE = new Uint8Array();

/**
 * Verifies a subtrees file against the tree of a verified statement. @returns the top hash of each complete subtree
 * @throws VerificationError STATEMENT_TREE_MISMATCH, FILE_TOO_LARGE, FILE_NOT_UTF8
 */
export function parseSubtrees(source: Uint8Array, tree: { size: number; hash: string }): Uint8Array[] {
  const tops = parseHashes(decodeDocument("The file of subtrees", source, MAX_ROOT_PROOF_BYTES));
  const hash = tops.reduceRight((right, left) => (right.length === 0 ? left : hashPair(left, right)), NONE);
  if (tops.length === subtreesOf(tree.size).length && bytesToHex(hash) === tree.hash) return tops;
  throw invalid("Its subtree hashes do not match the statement's tree");
}

/**
 * Verifies the proof of a root. The proof may belong to a newer statement.
 * @param root 64 lowercase hex digits
 * @param size the number of roots in the statement's tree
 * @param tops the subtree hashes of this tree, from `parseSubtrees`
 * @throws VerificationError STATEMENT_TREE_MISMATCH, FILE_TOO_LARGE, FILE_NOT_UTF8
 */
export function verifyRootProof(
  source: Uint8Array,
  root: string,
  size: number,
  tops: readonly Uint8Array[],
): RootEntry {
  const text = decodeDocument("The root proof", source, MAX_ROOT_PROOF_BYTES);
  const end = text.indexOf("\n");
  const [, index = "", leaf = ""] = /^(0|[1-9][0-9]{0,15}) (.*)$/.exec(text.slice(0, end)) ?? [];
  const entry = parseRootEntry(leaf);
  if (entry.root !== root) throw invalid(`It is for the root ${entry.root}`);
  const subtree = subtreeOf(Number(index), size);
  if (subtree === undefined) throw invalid(`Its position ${index} is not in a tree of ${size} roots`);
  const { height, position } = subtree;
  const siblings = parseHashes(text.slice(end + 1)).slice(0, height);
  let node = Number(index);
  let hash = hashLeafText(leaf);
  for (const sibling of siblings) {
    hash = node % 2 === 0 ? hashPair(hash, sibling) : hashPair(sibling, hash);
    node = Math.floor(node / 2);
  }
  if (siblings.length === height && bytesToHex(hash) === bytesToHex(tops[position] ?? NONE)) return entry;
  throw invalid("Its hash does not match the statement's tree");
}

/** Parses lines that each contain a hash of 32 bytes in base64. */
function parseHashes(text: string): Uint8Array[] {
  const lines = text.split("\n");
  if (lines.pop() !== "" || lines.length > MAX_HEIGHT + 1) throw invalid("It must contain lines of hashes");
  return lines.map((line) => {
    if (HASH.test(line)) return base64ToBytes(line);
    throw invalid("A line is not a hash");
  });
}

function invalid(reason: string): VerificationError {
  return new VerificationError("anchor", "STATEMENT_TREE_MISMATCH", `The root proof is invalid. ${reason}.`);
}
