/**
 * A process that does the least work of any publisher for a file of records: each step alone, and nothing twice. It reads and
 * checks every record, makes each tree and writes its file, and reads the file back and hashes its tree again. It uses no
 * chain and no file host. It prints the seconds of processor time that it took.
 *
 * `node bench/publish/leastWork.ts RECORDS FOLDER`
 */
import { hash } from "node:crypto";
import { closeSync, createReadStream, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { checkPublicKey } from "keyroot/identity";

/** The users of a file. */
const USERS = 700;

interface Nodes {
  merkle: Record<string, { left?: string; right?: string }>;
  values: string[];
}

const [, , records = "", folder = ""] = process.argv;
const values: string[] = [];
for await (const line of createInterface({ input: createReadStream(records) })) {
  const { pubKey, keyID } = JSON.parse(line) as { pubKey: string; keyID: string };
  const publicKey = Buffer.from(pubKey, "base64");
  checkPublicKey(publicKey);
  if (hash("sha256", publicKey, "base64").slice(0, 20) !== keyID.slice(0, 20))
    throw new Error(`Wrong key id: ${keyID}`);
  if (values.push(line) === USERS) storeAndReadBack(values.splice(0));
}
if (values.length > 0) storeAndReadBack(values);
const { user, system } = process.cpuUsage();
process.stdout.write(String((user + system) / 1e6));

function storeAndReadBack(values: string[]): void {
  const { root, nodes } = treeOf(values.sort());
  const path = join(folder, `${root}.json`);
  const file = openSync(path, "wx");
  writeSync(file, JSON.stringify({ merkle: nodes, values }));
  fsyncSync(file);
  closeSync(file);
  const bytes = readFileSync(path);
  hash("sha256", bytes);
  const read = JSON.parse(bytes.toString("latin1")) as Nodes;
  for (const value of read.values) hash("sha256", value);
  for (const { left = "data", right = "data" } of Object.values(read.merkle)) {
    if (left !== "data") hash("sha256", left + right);
  }
}

/** The hashes of a tree, and its nodes as a file has them. */
function treeOf(values: readonly string[]) {
  const nodes: Record<string, { type: string; level: number; left: string; right: string; parent: string }> = {};
  let hashes = values.map((value) => hash("sha256", value));
  for (const leaf of hashes) nodes[leaf] = { type: "leaf", level: 0, left: "data", right: "data", parent: "root" };
  for (let level = 1; hashes.length > 1; level++) {
    const parents: string[] = [];
    for (let i = 0; i < hashes.length; i += 2) {
      const left = hashes[i] ?? "";
      const right = hashes[i + 1] ?? left;
      const parent = hash("sha256", left + right);
      for (const child of [nodes[left], nodes[right]]) if (child !== undefined) child.parent = parent;
      nodes[parent] = { type: "node", level, left, right, parent: "root" };
      parents.push(parent);
    }
    hashes = parents;
  }
  return { root: hashes[0] ?? "", nodes };
}
