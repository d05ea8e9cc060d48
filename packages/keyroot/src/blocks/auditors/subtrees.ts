/** Maximum height of a tree. A tree of this height has 2^40 roots. */
export const MAX_HEIGHT = 40;

/** A complete subtree: the first leaf's index, and the subtree's height. */
export interface Subtree {
  start: number;
  height: number;
}

/**
 * Returns a tree's complete subtrees from left to right. Each 1 bit in the number of leaves corresponds to one subtree.
 */
export function subtreesOf(size: number): Subtree[] {
  const subtrees: Subtree[] = [];
  let start = 0;
  for (let height = MAX_HEIGHT; height >= 0; height--) {
    if (Math.floor(size / 2 ** height) % 2 === 0) continue;
    subtrees.push({ start, height });
    start += 2 ** height;
  }
  return subtrees;
}

/**
 * Finds the complete subtree that contains a leaf. `position` is the subtree's index in the list from `subtreesOf`.
 * Returns undefined if the tree does not contain the leaf.
 */
export function subtreeOf(index: number, size: number): (Subtree & { position: number }) | undefined {
  for (const [position, subtree] of subtreesOf(size).entries())
    if (index >= subtree.start && index < subtree.start + 2 ** subtree.height) return { ...subtree, position };
  return undefined;
}
