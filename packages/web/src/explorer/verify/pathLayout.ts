import { formatCount, plural, shorten } from "../../shared/format.ts";
import type { TreePath } from "../worker/messages.ts";

/** The appearance of a node in the drawing. */
export type NodeState = "good" | "bad" | "plain" | "ghost";

export interface DrawnNode {
  id: string;
  /** Position of the node's left edge. `y` is the position of the node's top edge. */
  x: number;
  y: number;
  caption: string;
  /** The node's value, shortened to one line. */
  text: string;
  /** The complete value, for tooltips and the text version. */
  full: string;
  state: NodeState;
  /** Whether the node is on the path. False for a sibling beside the path. */
  isMain: boolean;
}

interface DrawnEdge {
  id: string;
  path: string;
  kind: "main" | "side" | "dashed";
}

/** A comparison of two nodes that should be equal. Both are in the same row of the drawing. */
export interface DrawnComparison {
  id: string;
  x: number;
  y: number;
  state: "equal" | "different" | "open";
}

export interface Layout {
  width: number;
  height: number;
  nodeWidth: number;
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  comparisons: DrawnComparison[];
}

/** The parts of the drawing. Each part has a state. */
export type Part = "endpoint" | "contract" | "file" | "tree" | "record" | "key" | "given";

interface Source {
  caption: string;
  text: string;
}

export interface DrawingProps {
  path: TreePath | undefined;
  /** The user's root in the contract. Null if the user has no root. Undefined while the root is not known. */
  contractRoot: string | null | undefined;
  /** The source of the data: servers, or a bundle and a block. */
  endpoint: Source;
  file: Source;
  /** The state of each part. The tree has a state for each level, from the leaf to the root. */
  states: Readonly<Record<Exclude<Part, "tree">, NodeState> & { tree: readonly NodeState[] }>;
  /** The key to compare: a server's key or a key that the visitor pasted. */
  given: { caption: string; text: string } | undefined;
  userID: string;
}

export const NODE_HEIGHT = 46;
const ROW = 72;
/** Number of levels that are drawn before the tree is known. */
const GHOST_LEVELS = 3;

/** Calculates the layout of the drawing, with the file and the root at the top and the user's key at the bottom. */
export function layOut(props: DrawingProps, narrow: boolean): Layout {
  const { path, contractRoot, states, given, userID } = props;
  const nodeWidth = narrow ? 100 : 172;
  const gap = narrow ? 18 : 42;
  const width = 3 * nodeWidth + 2 * gap;
  const column = (index: 0 | 1 | 2) => index * (nodeWidth + gap);
  const short = (hash: string) => (narrow ? shorten(hash, 4, 4) : shorten(hash, 8, 6));
  const name = (text: string) => (narrow ? shorten(text, 6, 4) : shorten(text, 10, 6));

  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  const comparisons: DrawnComparison[] = [];
  const add = (node: DrawnNode) => nodes.push(node);
  const yOf = (row: number) => 1 + row * ROW;
  const center = column(1);

  const levels = path ? path.nodes : Array.from({ length: GHOST_LEVELS }, () => undefined);
  const top = levels.length - 1;
  const rowOf = (level: number) => 1 + top - level;

  const { file, endpoint } = props;
  const records = path?.leafCount === undefined ? name(file.text) : plural(path.leafCount, "record");
  const above = { y: yOf(0), isMain: false };
  add({ ...above, id: "file", x: center, caption: file.caption, text: records, full: file.text, state: states.file });
  add({
    ...{ ...above, id: "endpoint", x: column(2), caption: endpoint.caption, text: name(endpoint.text) },
    ...{ full: endpoint.text, state: states.endpoint },
  });
  edges.push({ id: "file-root", path: vertical(center + nodeWidth / 2, yOf(0) + NODE_HEIGHT, yOf(1)), kind: "dashed" });
  const right = column(2) + nodeWidth / 2;
  edges.push({ id: "endpoint-root", path: vertical(right, yOf(0) + NODE_HEIGHT, yOf(1)), kind: "dashed" });

  add({
    ...{ id: "contract", x: column(2), y: yOf(1), caption: narrow ? "contract’s" : "contract’s root" },
    ...{ text: contractRoot === null ? "no root" : contractRoot === undefined ? "…" : short(contractRoot) },
    ...{ full: contractRoot ?? "no root", state: states.contract, isMain: true },
  });

  for (let level = top; level >= 0; level--) {
    const node = levels[level];
    const y = yOf(rowOf(level));
    add({
      ...{ id: `level-${level}`, x: center, y, caption: captionOf(level, top), isMain: true },
      ...{ text: node ? short(node.hash) : "…", full: node?.hash ?? "not known yet" },
      state: states.tree[level] ?? "ghost",
    });
    if (level === top) continue;
    edges.push({ id: `up-${level}`, path: vertical(center + nodeWidth / 2, y, y - ROW + NODE_HEIGHT), kind: "main" });
    const sibling = node?.sibling;
    if (sibling === undefined) continue;
    const x = column(sibling.side === "left" ? 0 : 2);
    add({
      ...{ id: `sibling-${level}`, x, y, isMain: false, state: "plain" },
      ...{ caption: sibling.isSelf ? "itself again" : "sibling", text: short(sibling.hash), full: sibling.hash },
    });
    edges.push({
      id: `side-${level}`,
      path: curve(x + nodeWidth / 2, y, center + nodeWidth / 2, y - ROW + NODE_HEIGHT),
      kind: sibling.isSelf ? "dashed" : "side",
    });
  }

  const last = rowOf(0);
  const record = path?.record;
  add({
    ...{ id: "record", x: center, y: yOf(last + 1), isMain: true, state: states.record },
    ...{ caption: path?.index === undefined ? "record" : `record ${formatCount(path.index + 1)}` },
    ...{ text: name(record?.userID ?? userID), full: record?.userID ?? userID },
  });
  // Compare the given value with the published value of the same length: the key or the key id.
  const isKey = given !== undefined && given.text.length === record?.pubKey.length;
  const own = isKey ? record.pubKey : record?.keyID;
  // Until the file is verified, the key in the file is not called the published key.
  const whose = states.key === "good" ? "published key" : "key in the file";
  const caption = isKey ? whose : states.key === "good" ? "published key’s id" : "key id in the file";
  add({
    ...{ id: "key", x: center, y: yOf(last + 2), caption: narrow ? (isKey ? "key" : "key id") : caption },
    ...{ text: own ? name(own) : "…", full: own ?? "not known yet", state: states.key, isMain: true },
  });
  for (const row of [last, last + 1]) {
    const path = vertical(center + nodeWidth / 2, yOf(row) + NODE_HEIGHT, yOf(row + 1));
    edges.push({ id: `down-${row}`, path, kind: "main" });
  }
  if (given) {
    const { caption, text } = given;
    const x = column(2);
    add({ id: "given", x, y: yOf(last + 2), caption, text: name(text), full: text, state: states.given, isMain: true });
  }

  const compare = (id: string, row: number, state: DrawnComparison["state"]) => {
    comparisons.push({ id, x: column(2) - gap / 2, y: yOf(row) + NODE_HEIGHT / 2, state });
  };
  const computed = path?.nodes.at(-1)?.hash;
  compare("roots", 1, !computed || !contractRoot ? "open" : computed === contractRoot ? "equal" : "different");
  if (given)
    compare("keys", last + 2, states.given === "bad" ? "different" : states.given === "good" ? "equal" : "open");
  return { width, height: yOf(last + 2) + NODE_HEIGHT + 1, nodeWidth, nodes, edges, comparisons };
}

function captionOf(level: number, top: number): string {
  if (level === top) return "computed root";
  return level === 0 ? "leaf" : `level ${level}`;
}

function vertical(x: number, from: number, to: number): string {
  return `M${x} ${from}V${to}`;
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
}
