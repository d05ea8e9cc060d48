import { type MerkleFile, type MerkleProof, MerkleTree, parseKeyRecord } from "keyroot";
import { hashChildren, hashLeaf } from "keyroot/merkle";
import type { Failure, PathNode, TreePath } from "../messages.ts";

/** The path that a proof describes, with the hashes computed again. */
export function pathOfProof({ value, siblings }: MerkleProof): PathNode[] {
  let hash = hashLeaf(value);
  const nodes = siblings.map(({ side, hash: sibling }): PathNode => {
    const node = { hash, sibling: { side, hash: sibling, isSelf: side === "right" && sibling === hash } };
    hash = side === "left" ? hashChildren(sibling, hash) : hashChildren(hash, sibling);
    return node;
  });
  return [...nodes, { hash, sibling: undefined }];
}

/** What a path shows of a whole file. */
export function pathInFile({ values, records, lookup }: MerkleFile, proof: MerkleProof, userID: string): TreePath {
  const index = lookup.get(userID);
  const record = index === undefined ? undefined : records[index];
  return { nodes: pathOfProof(proof), index, leafCount: values.length, record };
}

/**
 * The path in a file that the verifier rejected, as far as the file can be read, and the lowest node where it contradicts
 * itself. For the drawing only: the verdict is the verifier's.
 */
export function pathInRejectedFile(bytes: Uint8Array, userID: string, failure: Failure): TreePath | undefined {
  try {
    const { values, merkle = {} } = JSON.parse(new TextDecoder().decode(bytes)) as {
      values: string[];
      merkle?: Record<string, unknown>;
    };
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
    return { nodes, index: found, leafCount, record: recordOf(values[found]), failedLevel };
  } catch {
    // Not even a list of texts: there is no tree to draw.
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

function recordOf(value: string | undefined) {
  try {
    return parseKeyRecord(value ?? "");
  } catch {
    return undefined;
  }
}
