/**
 * A plain script for comparison with `keyroot publish`, which has the same data. It reads and checks every record,
 * builds each tree, and writes its file. Then it reads the file back and hashes the tree again. It uses no chain and no
 * file host, does each step once, and prints its processor time in seconds.
 *
 * `node bench/publish/plainScript.ts RECORDS FOLDER`
 */
import { hash } from "node:crypto";
import { closeSync, createReadStream, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { checkPublicKey } from "keyroot/internal/identity";

/** The number of users in a file. */
const USERS = 700;
/** The position of the user id in a line. */
const ID = { start: '{"userID":"'.length, length: 32 };

interface Node {
  type: string;
  level: number;
  left: string;
  right: string;
  parent: string;
}

const [, , records = "", folder = ""] = process.argv;
const lines: string[] = [];
for await (const line of createInterface({ input: createReadStream(records) })) {
  const { pubKey, keyID } = JSON.parse(line) as { pubKey: string; keyID: string };
  const publicKey = Buffer.from(pubKey, "base64");
  checkPublicKey(publicKey);
  const expected = Buffer.from(hash("sha256", publicKey), "hex").toString("base64", 0, 16);
  if (keyID !== expected) throw new Error(`Wrong key id: ${keyID}`);
  if (lines.push(line) === USERS) storeAndReadBack(lines.splice(0));
}
if (lines.length > 0) storeAndReadBack(lines);
const { user, system } = process.cpuUsage();
process.stdout.write(String((user + system) / 1e6));

function storeAndReadBack(values: string[]): void {
  values.sort();
  const { root, levels, nodes } = treeOf(values);
  const merkle = { root, hashalgo: "sha256", leaves: values.length, levels, ...nodes };
  const lookup = Object.fromEntries(values.map((value, i) => [value.substring(ID.start, ID.start + ID.length), i]));
  const path = join(folder, `${root}.json`);
  const file = openSync(path, "wx");
  writeSync(file, JSON.stringify({ merkle, values, lookup }));
  fsyncSync(file);
  closeSync(file);
  const bytes = readFileSync(path);
  hash("sha256", bytes);
  const read = JSON.parse(bytes.toString("latin1")) as { merkle: Record<string, Partial<Node>>; values: string[] };
  for (const value of read.values) hash("sha256", value);
  for (const { left = "data", right = "data" } of Object.values(read.merkle)) {
    if (left !== "data") hash("sha256", left + right);
  }
}

/** Computes the hashes of a tree, and its nodes in the format of a file. */
function treeOf(values: readonly string[]): { root: string; levels: number; nodes: Record<string, Node> } {
  const nodes: Record<string, Node> = {};
  let hashes = values.map((value) => hash("sha256", value));
  const type = values.length > 1 ? "leaf" : "root";
  for (const leaf of hashes) nodes[leaf] = { type, level: 0, left: "data", right: "data", parent: "root" };
  let levels = 1;
  for (; hashes.length > 1; levels++) {
    const parents: string[] = [];
    for (let i = 0; i < hashes.length; i += 2) {
      const left = hashes[i] ?? "";
      const right = hashes[i + 1] ?? left;
      const parent = hash("sha256", left + right);
      for (const child of [nodes[left], nodes[right]]) if (child !== undefined) child.parent = parent;
      nodes[parent] = { type: hashes.length > 2 ? "node" : "root", level: levels, left, right, parent: "root" };
      parents.push(parent);
    }
    hashes = parents;
  }
  return { root: hashes[0] ?? "", levels, nodes };
}
