/** A thread that does the least work of any audit. It takes its share of the files, and runs each step once. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { workerData } from "node:worker_threads";

export interface LeastWork {
  /** The paths of Merkle-tree files. */
  paths: string[];
  /**
   * `parse` only parses the files, `tree` also hashes every leaf and node of the trees, and `keys` also hashes the file
   * and every key, and checks every key.
   */
  work: "parse" | "tree" | "keys";
}

interface File {
  merkle: Record<string, { left?: string; right?: string }>;
  values: string[];
}

const { paths, work } = workerData as LeastWork;
// Load this module on demand, so that the other kinds of work do not take longer.
const checkPublicKey = work === "keys" ? (await import("keyroot/internal/identity")).checkPublicKey : undefined;
for (const path of paths) {
  const text = readFileSync(path, "utf8");
  const { merkle, values } = JSON.parse(text) as File;
  if (work === "parse") continue;
  for (const value of values) hash("sha256", value);
  for (const { left = "data", right = "data" } of Object.values(merkle)) {
    if (left !== "data") hash("sha256", left + right);
  }
  if (checkPublicKey === undefined) continue;
  hash("sha256", text);
  for (const value of values) {
    const publicKey = Buffer.from((JSON.parse(value) as { pubKey: string }).pubKey, "base64");
    hash("sha256", publicKey);
    checkPublicKey(publicKey);
  }
}
