import { sha256 } from "../samples.ts";

/** A Merkle-tree file as plain JSON that tests can change. */
export interface PlainFile {
  merkle: Record<string, unknown>;
  values: unknown[];
  lookup: Record<string, unknown>;
}

/**
 * Creates a file by the rules of the specification ("Tree construction rules"), without any check of the values. It is
 * an oracle for valid files, and also used to forge files.
 */
export function plainFile(values: readonly string[]): PlainFile & { root: string } {
  const levels = [values.map((value) => sha256(value))];
  for (let level = levels[0] ?? []; level.length > 1; levels.push(level)) {
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => sha256(left(level, i) + right(level, i)));
  }
  const top = levels.length - 1;
  const root = levels[top]?.[0] ?? "";
  const merkle: Record<string, unknown> = { root, hashalgo: "sha256", leaves: values.length, levels: levels.length };
  for (const [level, hashes] of levels.entries()) {
    for (const [i, hash] of hashes.entries()) {
      const below = levels[level - 1];
      merkle[hash] = {
        type: level === top ? "root" : level === 0 ? "leaf" : "node",
        level,
        left: below === undefined ? "data" : left(below, i),
        right: below === undefined ? "data" : right(below, i),
        parent: levels[level + 1]?.[Math.floor(i / 2)] ?? "root",
      };
    }
  }
  return {
    root,
    merkle,
    values: [...values],
    lookup: Object.fromEntries(values.map((value, i) => [userOf(value), i])),
  };
}

const left = (level: readonly string[], i: number) => level[2 * i] ?? "";
const right = (level: readonly string[], i: number) => level[2 * i + 1] ?? left(level, i);
const userOf = (value: string) => /"userID":\s*"(\w+)"/.exec(value)?.[1] ?? value;
