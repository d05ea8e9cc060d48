import { parseKeyRecord } from "keyroot/records";
import type { KeyType } from "keyroot/key-types";
import { type MerkleProof, MerkleTree, type Sibling } from "keyroot/merkle";
import { hashChildren, hashLeaf } from "keyroot/internal/merkle";
import type { Failure, PathNode, TreePath } from "./messages.ts";

export function pathOfProof({ value, siblings }: MerkleProof): PathNode[] {
  let hash = hashLeaf(value);
  const nodes = siblings.map(({ side, hash: sibling }): PathNode => {
    const node = { hash, sibling: { side, hash: sibling, isSelf: side === "right" && sibling === hash } };
    hash = side === "left" ? hashChildren(sibling, hash) : hashChildren(hash, sibling);
    return node;
  });
  return [...nodes, { hash, sibling: undefined }];
}

/** The parts of a file that are needed for the path from a record to the root. */
interface FileParts {
  merkle: Record<string, { left: string; right: string; parent: string }>;
  values: string[];
  lookup: Record<string, number>;
}

/**
 * Returns a user's proof and path in a file that the verifier has accepted for this root. Only the hashes of the path
 * are computed again. This is enough, because the verifier has already compared the file's `merkle` member with
 * `values`.
 */
export function pathInFile(
  bytes: Uint8Array,
  root: string,
  userID: string,
  keyType: KeyType,
): { path: TreePath; proof: MerkleProof } {
  const { merkle, values, lookup } = JSON.parse(new TextDecoder().decode(bytes)) as FileParts;
  const index = lookup[userID] ?? -1;
  const value = values[index] ?? "";
  const siblings: Sibling[] = [];
  for (let hash = hashLeaf(value); hash !== root;) {
    const parentHash = merkle[hash]?.parent ?? "";
    const parent = merkle[parentHash];
    if (parent === undefined) throw new Error("The path does not lead to the root.");
    const isLeft = parent.left === hash;
    siblings.push(isLeft ? { side: "right", hash: parent.right } : { side: "left", hash: parent.left });
    hash = parentHash;
  }
  const proof: MerkleProof = { format: "keyroot-proof-v1", value, siblings, root };
  const nodes = pathOfProof(proof);
  if (nodes.at(-1)?.hash !== root) throw new Error("The path does not lead to the root.");
  return { path: { nodes, index, leafCount: values.length, record: parseKeyRecord(value, keyType) }, proof };
}

/** Maximum number of records in a drawn rejected file. Files within the size limit usually contain fewer records. */
const MAX_DRAWN = 20_000;
/** Error codes after which a file is not parsed again, because parsing could use too much memory. */
const UNREADABLE = /^JSON_|^FILE_(?:TOO_LARGE|NOT_UTF8)$|^ANSWER_TOO_LARGE$/;

/**
 * Returns the readable part of the path in a rejected file, and the lowest node that contradicts the file. Only the
 * drawing uses them, so they do not affect the verification's result.
 */
export function pathInRejectedFile(
  bytes: Uint8Array,
  userID: string,
  keyType: KeyType,
  failure: Failure,
): TreePath | undefined {
  if (UNREADABLE.test(failure.code ?? "")) return undefined;
  try {
    const { values, merkle = {} } = JSON.parse(new TextDecoder().decode(bytes)) as {
      values: string[];
      merkle?: Record<string, unknown>;
    };
    if (values.length > MAX_DRAWN) return undefined;
    const tree = new MerkleTree(values);
    const isDuplicate = failure.code === "DUPLICATE_VALUE" || failure.code === "DUPLICATE_USER";
    const found = isDuplicate ? Number(failure.actual) : values.findIndex((value) => value.includes(`"${userID}"`));
    const leafCount = values.length;
    if (found < 0)
      return { nodes: [{ hash: tree.root, sibling: undefined }], index: undefined, leafCount, record: undefined };
    const nodes = nodesAbove(tree, found);
    const own = Object.hasOwn(merkle, "root") ? merkle : undefined;
    const lowest = own ? nodes.findIndex(({ hash }) => !Object.hasOwn(own, hash)) : -1;
    const failedLevel = isDuplicate
      ? 0
      : failure.step === "tree"
        ? lowest < 0
          ? nodes.length - 1
          : lowest
        : undefined;
    return { nodes, index: found, leafCount, record: recordOf(values[found], keyType), failedLevel };
  } catch {
    // The file has no list of values, so no tree can be drawn.
    return undefined;
  }
}

function nodesAbove(tree: MerkleTree, index: number): PathNode[] {
  return Array.from({ length: tree.height }, (_, level): PathNode => {
    const hashes = tree.hashes(level);
    const position = index >> level;
    const hash = hashes[position] ?? "";
    if (level === tree.height - 1) return { hash, sibling: undefined };
    const isRight = position % 2 === 1;
    const other = hashes[position ^ 1];
    return { hash, sibling: { side: isRight ? "left" : "right", hash: other ?? hash, isSelf: other === undefined } };
  });
}

function recordOf(value: string | undefined, keyType: KeyType) {
  try {
    return parseKeyRecord(value ?? "", keyType);
  } catch {
    return undefined;
  }
}
