import type { Batch } from "../worker/messages.ts";

const USER_ID = 32;
const KEY_ID = 24;
const HASH_BYTES = 32;

/** The position of a node in the tree. The leaves are level 0. */
export interface NodeRef {
  level: number;
  index: number;
}

/** The tree of a packed batch. */
export class BatchTree {
  readonly batch: Batch;
  readonly leafCount: number;
  /** The number of levels, including the leaves. */
  readonly height: number;

  constructor(batch: Batch) {
    this.batch = batch;
    this.leafCount = batch.userIDs.length / USER_ID;
    this.height = batch.levels.length;
  }

  userID(index: number): string {
    return this.batch.userIDs.slice(index * USER_ID, (index + 1) * USER_ID);
  }

  keyID(index: number): string {
    return this.batch.keyIDs.slice(index * KEY_ID, (index + 1) * KEY_ID);
  }

  count(level: number): number {
    return (this.batch.levels[level]?.length ?? 0) / HASH_BYTES;
  }

  /** Returns the first `digits` hex digits of a node's hash. Default: all 64 digits. */
  hash({ level, index }: NodeRef, digits = 64): string {
    const bytes = this.batch.levels[level]?.subarray(index * HASH_BYTES, index * HASH_BYTES + digits / 2) ?? [];
    let hex = "";
    for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
    return hex;
  }

  /** Returns the range of leaves under a node. The end is exclusive. */
  span({ level, index }: NodeRef): [number, number] {
    return [index * 2 ** level, Math.min((index + 1) * 2 ** level, this.leafCount)];
  }

  parent({ level, index }: NodeRef): NodeRef | undefined {
    return level + 1 < this.height ? { level: level + 1, index: index >> 1 } : undefined;
  }

  /**
   * Returns the other child of a node's parent. Returns undefined for the root. If the node is paired with itself,
   * returns the node.
   */
  sibling({ level, index }: NodeRef): NodeRef | undefined {
    if (level + 1 >= this.height) return undefined;
    return (index ^ 1) < this.count(level) ? { level, index: index ^ 1 } : { level, index };
  }

  /** Returns the neighboring node in the direction of an arrow key. */
  neighbor({ level, index }: NodeRef, direction: "left" | "right" | "up" | "down"): NodeRef | undefined {
    switch (direction) {
      case "left":
        return index > 0 ? { level, index: index - 1 } : undefined;
      case "right":
        return index + 1 < this.count(level) ? { level, index: index + 1 } : undefined;
      case "up":
        return this.parent({ level, index });
      case "down":
        return level > 0 ? { level: level - 1, index: 2 * index } : undefined;
    }
  }

  indexOf(userID: string): number | undefined {
    return this.search(userID, 1)[0];
  }

  /** Finds the first leaves whose user id or key id contains a text, or whose hash begins with it. */
  search(text: string, limit: number): number[] {
    const wanted = text.trim();
    if (wanted === "") return [];
    const found = new Set<number>();
    const { userIDs, keyIDs } = this.batch;
    collect(userIDs, wanted.toLowerCase(), USER_ID, limit, found);
    collect(keyIDs, wanted, KEY_ID, limit, found);
    const hash = wanted.toLowerCase().replace(/^0x/, "");
    if (/^[0-9a-f]{4,64}$/.test(hash)) {
      for (let index = 0; index < this.leafCount && found.size < limit; index++) {
        if (this.hash({ level: 0, index }, hash.length + (hash.length % 2)).startsWith(hash)) found.add(index);
      }
    }
    return [...found].sort((a, b) => a - b).slice(0, limit);
  }
}

/**
 * Finds the values that contain a text, and adds their indexes to `found`.
 * @param texts the values, which have `size` characters each and follow each other without separators
 */
function collect(texts: string, wanted: string, size: number, limit: number, found: Set<number>): void {
  for (let at = texts.indexOf(wanted); at !== -1 && found.size < limit;) {
    const index = Math.floor(at / size);
    const isInside = at + wanted.length <= (index + 1) * size;
    if (isInside) found.add(index);
    at = texts.indexOf(wanted, isInside ? (index + 1) * size : at + 1);
  }
}
