/**
 * Builds the tree of one contender, and prints the time:
 *
 *     node bench/tree/contenders.ts CONTENDER FILE [--small]      FILE has one value per line
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { SMALL } from "../runner/report.ts";

export interface Made {
  root: string;
  treeMs: number;
  /**
   * The time in ms to build the tree and the text of its file. Undefined for libraries that do not write this format.
   */
  fileMs?: number;
}

export type Contender = keyof typeof CONTENDERS;

/** Builds the tree, and returns its root. With `file`, the text of the file is created as well. */
interface Maker {
  tree: () => string;
  file?: () => void;
}

/** The duration in ms for which short work is repeated, after a warm-up with the same duration. */
const REPEAT_MS = SMALL ? 5 : 500;
const LONGEST_STRING = 2 ** 29 - 24;
/** The size of a file per user, in bytes. */
const BYTES_PER_USER = 803;

const CONTENDERS = { keyroot, merkleTreeGen, merkletreejs, openZeppelin, openssl };

const [, , name, path = ""] = process.argv;
if (import.meta.main) {
  const values = readFileSync(path, "utf8").split("\n");
  const { tree, file } = await CONTENDERS[name as Contender](values);
  let root = "";
  const treeMs = typicalTime(() => (root = tree()));
  const made: Made = { root, treeMs, ...(file !== undefined && { fileMs: typicalTime(file) }) };
  process.stdout.write(JSON.stringify(made));
}

async function keyroot(values: readonly string[]): Promise<Maker> {
  const { MerkleTree } = await import("keyroot/merkle");
  const { makeMerkleFile, serializeMerkleFile } = await import("keyroot/internal/merkle");
  const { parseKeyRecord } = await import("keyroot/internal/identity");
  const records = values.map((line) => parseKeyRecord(line));
  return {
    tree: () => new MerkleTree(values).root,
    file: () => {
      let length = 0;
      for (const part of serializeMerkleFile(makeMerkleFile(records))) length += part.length;
      if (length === 0) throw new Error("The file is empty.");
    },
  };
}

/** Builds the tree with merkle-tree-gen, the library that made the deployed files. */
async function merkleTreeGen(values: readonly string[]): Promise<Maker> {
  const { makeMerkle } = await import("../../test/support/data/merkleTreeGen.ts");
  const file = () => {
    const lookup: Record<string, number> = {};
    values.forEach((value, i) => (lookup[(JSON.parse(value) as { userID: string }).userID] = i));
    JSON.stringify({ merkle: makeMerkle(values), values, lookup });
  };
  return { tree: () => makeMerkle(values).root, ...(values.length * BYTES_PER_USER < LONGEST_STRING && { file }) };
}

/**
 * Builds the tree with the hashes of the file format. With `duplicateOdd`, the last node of an odd level is paired with
 * itself, as in the format.
 */
async function merkletreejs(values: readonly string[]): Promise<Maker> {
  const { MerkleTree } = await import("merkletreejs");
  // This library hashes the raw hashes of two children, whereas the format hashes their hex digits.
  const hashChildren = (pair: Buffer) => hash("sha256", pair.toString("hex"), "buffer");
  return {
    tree: () => {
      const leaves = values.map((value) => hash("sha256", value, "buffer"));
      return new MerkleTree(leaves, hashChildren, { duplicateOdd: true }).getRoot().toString("hex");
    },
  };
}

/**
 * Builds the tree with the node hash of the file format. This library does not duplicate the last node of a level.
 * Therefore the last values are repeated until each level has an even number of nodes.
 */
async function openZeppelin(values: readonly string[]): Promise<Maker> {
  const { SimpleMerkleTree } = await import("@openzeppelin/merkle-tree");
  const expanded = [...values];
  for (let size = 1; size < expanded.length; size *= 2)
    if ((expanded.length / size) % 2 === 1) expanded.push(...expanded.slice(-size));
  // This library stores leaves in reverse, so the left child is the second argument.
  const nodeHash = (b: unknown, a: unknown) => `0x${hash("sha256", String(a).slice(2) + String(b).slice(2))}`;
  return {
    tree: () => {
      const leaves = expanded.map((value) => `0x${hash("sha256", value)}`);
      return SimpleMerkleTree.of(leaves, { sortLeaves: false, nodeHash }).root.slice(2);
    },
  };
}

/** Hashes the same inputs with Node's one-shot hash, which uses OpenSSL. No tree is built. */
async function openssl(values: readonly string[]): Promise<Maker> {
  const { MerkleTree } = await import("keyroot/merkle");
  const { root, pairs } = pairsOf(new MerkleTree(values));
  const tree = () => {
    for (const value of values) hash("sha256", value);
    for (const pair of pairs) hash("sha256", pair);
    return root;
  };
  // V8 joins the parts of a string when the string is first read. This is not part of hashing, so all strings are read
  // once before the measurement.
  tree();
  return { tree };
}

/** Returns the inputs of a tree's inner hashes. */
function pairsOf(tree: { root: string; height: number; hashes: (level: number) => string[] }) {
  const pairs: string[] = [];
  for (let level = 0; level < tree.height - 1; level++) {
    const hashes = tree.hashes(level);
    for (let i = 0; i < hashes.length; i += 2) pairs.push(`${hashes[i] ?? ""}${hashes[i + 1] ?? hashes[i] ?? ""}`);
  }
  return { root: tree.root, pairs };
}

/**
 * Returns the time of the work in ms: the time of the first run if it is long, and otherwise the median of many runs.
 */
function typicalTime(work: () => unknown): number {
  const first = timeOf(work);
  if (first > REPEAT_MS) return first;
  const runs = Math.ceil(REPEAT_MS / first);
  for (let i = 0; i < runs; i++) work();
  // Sort a typed array, because merkle-tree-gen replaces methods of Array.
  const times = Float64Array.from({ length: runs }, () => timeOf(work)).sort();
  return times[runs >> 1] ?? NaN;
}

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
