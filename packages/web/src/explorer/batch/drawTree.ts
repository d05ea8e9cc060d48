import type { BatchTree, NodeRef } from "./batchTree.ts";
import type { View } from "./treeView.ts";

/** The colors of the drawing, in a form that a canvas accepts. */
export interface Colors {
  node: string;
  dense: string;
  path: string;
  pathText: string;
  side: string;
  text: string;
}

export interface Size {
  width: number;
  height: number;
}

/** Minimum width of a separate node in pixels. Narrower nodes are drawn as one band. */
const MIN_WIDTH = 1.2;
const ROW_GAP = 4;
/** Minimum width in pixels of a node that shows a text. The text is the node's hash or the leaf's user id. */
const TEXT_WIDTH = 84;

/** Returns the height of one tree level in pixels. */
export function rowHeight(tree: BatchTree, { height }: Size): number {
  return height / tree.height;
}

/**
 * Draws the visible part of the tree, with the root at the top. Each node is as wide as all leaves below it together.
 */
export function drawTree(
  context: CanvasRenderingContext2D,
  tree: BatchTree,
  view: View,
  size: Size,
  selected: NodeRef | undefined,
  colors: Colors,
): void {
  const row = rowHeight(tree, size);
  const scale = size.width / view.span;
  context.clearRect(0, 0, size.width, size.height);
  context.font = "12px ui-monospace, Menlo, 'DejaVu Sans Mono', monospace";
  context.textAlign = "center";
  context.textBaseline = "middle";
  const placeOf = (node: NodeRef) => {
    const [from, to] = tree.span(node);
    const left = (from - view.start) * scale;
    return { left, width: Math.max((to - from) * scale, 2), top: (tree.height - 1 - node.level) * row };
  };

  for (let level = 0; level < tree.height; level++) {
    const nodeWidth = 2 ** level * scale;
    const top = (tree.height - 1 - level) * row;
    if (nodeWidth < MIN_WIDTH) {
      context.fillStyle = colors.dense;
      const left = Math.max(0, -view.start * scale);
      context.fillRect(left, top, Math.min(size.width, (tree.leafCount - view.start) * scale) - left, row - ROW_GAP);
      continue;
    }
    context.fillStyle = colors.node;
    const last = Math.min(tree.count(level), Math.ceil((view.start + view.span) / 2 ** level));
    for (let index = Math.floor(view.start / 2 ** level); index < last; index++) {
      drawNode(context, tree, { level, index }, placeOf({ level, index }), row, size, colors.text);
    }
  }
  for (let node = selected; node !== undefined; node = tree.parent(node)) {
    const sibling = tree.sibling(node);
    if (sibling && sibling.index !== node.index) {
      context.fillStyle = colors.side;
      drawNode(context, tree, sibling, placeOf(sibling), row, size, colors.text);
    }
    context.fillStyle = colors.path;
    drawNode(context, tree, node, placeOf(node), row, size, colors.pathText);
  }
}

/** Draws a node in the current color. Adds the node's text if the node is wide enough. */
function drawNode(
  context: CanvasRenderingContext2D,
  tree: BatchTree,
  node: NodeRef,
  { left, width, top }: { left: number; width: number; top: number },
  row: number,
  size: Size,
  text: string,
): void {
  const gap = width > 12 ? 2 : width > 3 ? 0.6 : 0;
  const fill = context.fillStyle;
  if (width > 12) {
    context.beginPath();
    context.roundRect(left + gap / 2, top, width - gap, row - ROW_GAP, Math.min(6, row / 5));
    context.fill();
  } else {
    context.fillRect(left, top, width - gap, row - ROW_GAP);
  }
  const visible = Math.min(left + width, size.width) - Math.max(left, 0);
  if (visible < TEXT_WIDTH || row < 18) return;
  context.fillStyle = text;
  const middle = Math.max(left, 0) + visible / 2;
  const words = node.level === 0 ? `${tree.userID(node.index).slice(0, 8)}…` : `${tree.hash(node, 8)}…`;
  context.fillText(words, middle, top + (row - ROW_GAP) / 2);
  context.fillStyle = fill;
}
