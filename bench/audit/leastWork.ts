/** A thread that does the least work that any audit must do for its share of the files, and checks nothing. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { workerData } from "node:worker_threads";

/** What a thread does. */
export interface LeastWork {
  /** Paths of Merkle-tree files. */
  paths: string[];
  /** Whether to hash every leaf and every node of the trees, too. */
  hashesTree: boolean;
}

interface File {
  merkle: Record<string, { left?: string; right?: string }>;
  values: string[];
}

const { paths, hashesTree } = workerData as LeastWork;
for (const path of paths) {
  const { merkle, values } = JSON.parse(readFileSync(path, "utf8")) as File;
  if (!hashesTree) continue;
  for (const value of values) hash("sha256", value);
  for (const { left = "data", right = "data" } of Object.values(merkle)) {
    if (left !== "data") hash("sha256", left + right);
  }
}
