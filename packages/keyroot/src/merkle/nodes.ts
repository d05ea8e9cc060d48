import type { MerkleFile } from "./fileOf.ts";
import { hashAt, type MerkleTree } from "./tree.ts";

/** The number of nodes or values in each piece of text. */
const PIECE = 256;

/**
 * Yields the nodes of the `merkle` object as JSON text: first the leaves, then each level, and finally the root
 * (docs/specification.md, "Node object fields"). No piece begins or ends with a comma. Hashes are written unchanged,
 * because JSON does not escape any of their characters.
 */
export function* serializeNodes(tree: MerkleTree): Generator<string> {
  const top = tree.height - 1;
  let children = "";
  let nodes = tree.joinedHashes(0);
  for (let level = 0; level <= top; level++) {
    const parents = level === top ? "" : tree.joinedHashes(level + 1);
    const start = `":{"type":"${level === top ? "root" : level === 0 ? "leaf" : "node"}","level":${level},"left":"`;
    let piece = "";
    for (let i = 0, hash = hashAt(nodes, 0); hash !== ""; hash = hashAt(nodes, ++i)) {
      if (i > 0 && i % PIECE === 0) {
        yield piece;
        piece = "";
      }
      const left = hashAt(children, 2 * i) || "data";
      const right = hashAt(children, 2 * i + 1) || left;
      const parent = hashAt(parents, i >> 1) || "root";
      piece += `${piece && ","}"${hash}${start}${left}","right":"${right}","parent":"${parent}"}`;
    }
    yield piece;
    children = nodes;
    nodes = parents;
  }
}

/** Returns the JSON of a Merkle-tree file in pieces. */
export function* piecesOf({ values, lookup, tree }: MerkleFile): Generator<string> {
  yield `{"merkle":{"root":"${tree.root}","hashalgo":"sha256","leaves":${tree.leafCount},"levels":${tree.height}`;
  for (const nodes of serializeNodes(tree)) yield `,${nodes}`;
  yield `},"values":[`;
  for (let i = 0; i < values.length; i += PIECE) {
    yield (i === 0 ? "" : ",") + JSON.stringify(values.slice(i, i + PIECE)).slice(1, -1);
  }
  const lines = [...lookup.keys()].map((userID, i) => `"${userID}":${i}`);
  yield `],"lookup":{${lines.join()}}}`;
}
