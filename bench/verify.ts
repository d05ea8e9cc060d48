/**
 * What it costs to verify one user of a 700-user file, beside two measures of the same run: `JSON.parse` of that file,
 * and the way of the format's first clients, which rebuild the tree with the npm package merkle-tree-gen.
 *
 * `npm run bench:verify` prints and records the figures in bench/verify.json.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { KeyRecord } from "keyroot/identity";

const USERS = 700;
const COLD_RUNS = 15;
const WARM_RUNS = 300;
const WARM_UP = 100;

const [, , role, file = "", userID = ""] = process.argv;
if (role === "ours") process.stdout.write(String(await verifyCold(file, userID)));
else if (role === "parse-only") process.stdout.write(String(parseCold(file)));
else if (role === "first-clients") process.stdout.write(String(await verifyAsFirstClients(file, userID)));
else await compare();

async function compare(): Promise<void> {
  const { makeMerkleFile, serializeMerkleFile } = await import("../packages/keyroot/src/merkle/file.ts");
  const { verifyFile } = await import("../packages/keyroot/src/verifier/verdict.ts");
  const records = await sampleRecords();
  const merkleFile = makeMerkleFile(records);
  const { root } = merkleFile.tree;
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  const path = join(dir, `${root}.json`);
  const user = records[0]?.userID ?? "";
  writeFileSync(path, [...serializeMerkleFile(merkleFile)].join(""));

  const cold = { ours: [] as number[], firstClients: [] as number[], parseOnly: [] as number[] };
  for (let i = 0; i < COLD_RUNS; i++) {
    cold.ours.push(inProcessOfItsOwn("ours", path, user));
    cold.firstClients.push(inProcessOfItsOwn("first-clients", path, user));
    cold.parseOnly.push(inProcessOfItsOwn("parse-only", path));
  }

  const bytes = readFileSync(path);
  const question = { userID: user, chainId: 1, contract: "" };
  const verify = () => verifyFile(question, root, bytes);
  const parse = (): unknown => JSON.parse(new TextDecoder().decode(bytes));
  for (let i = 0; i < WARM_UP; i++) {
    verify();
    parse();
  }
  const warm = { verify: [] as number[], parse: [] as number[] };
  for (let i = 0; i < WARM_RUNS; i++) {
    warm.verify.push(timed(verify));
    warm.parse.push(timed(parse));
  }
  rmSync(dir, { recursive: true });

  const figures = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
    command: "npm run bench:verify",
    file: { users: USERS, bytes: bytes.length },
    cold: {
      what: "in a process of its own, loading the modules included: median ms",
      ours: median(cold.ours),
      firstClients: median(cold.firstClients),
      timesAsFast: ratio(cold.firstClients, cold.ours),
      parseOnly: median(cold.parseOnly),
      parseOnlyTimesAsFast: ratio(cold.firstClients, cold.parseOnly),
    },
    warm: {
      what: "median ms; JSON.parse takes the file's bytes, as verifying does",
      verify: median(warm.verify),
      jsonParse: median(warm.parse),
      timesAsLong: ratio(warm.verify, warm.parse),
    },
  };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(new URL("verify.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
}

/** Milliseconds to load the built library, read the file, and verify the user with all checks. */
async function verifyCold(path: string, user: string): Promise<number> {
  const start = performance.now();
  const library = "../packages/keyroot/dist/verifier/verdict.js";
  const { verifyFile } = (await import(library)) as typeof import("../packages/keyroot/src/verifier/verdict.ts");
  verifyFile({ userID: user, chainId: 1, contract: "" }, rootOf(path), readFileSync(path));
  return performance.now() - start;
}

/** Milliseconds to read the file and do no more than parse it: no verifier can be faster. */
function parseCold(path: string): number {
  const start = performance.now();
  JSON.parse(readFileSync(path, "utf8"));
  return performance.now() - start;
}

/** Milliseconds to load merkle-tree-gen, read the file, rebuild its tree, compare the root and look the user up. */
async function verifyAsFirstClients(path: string, user: string): Promise<number> {
  const start = performance.now();
  interface Tree {
    root: string;
  }
  interface MerkleTreeGen {
    fromArray: (args: object, callback: (error: Error | null, tree: Tree) => void) => void;
  }
  const { fromArray } = createRequire(import.meta.url)("merkle-tree-gen") as MerkleTreeGen;
  const { values, lookup } = JSON.parse(readFileSync(path, "utf8")) as {
    values: string[];
    lookup: Record<string, number>;
  };
  const { promise, resolve, reject } = Promise.withResolvers<Tree>();
  fromArray({ array: values, hashalgo: "sha256" }, (error, tree) => {
    if (error) reject(error);
    else resolve(tree);
  });
  const { root } = await promise;
  const { userID: found } = JSON.parse(values[lookup[user] ?? -1] ?? "{}") as KeyRecord;
  if (root !== rootOf(path) || found !== user) throw new Error("The file does not verify.");
  return performance.now() - start;
}

function rootOf(path: string): string {
  return basename(path, ".json");
}

/** Records with real keys: a few, since a fresh pair takes a millisecond and no check looks at two of them. */
async function sampleRecords(): Promise<KeyRecord[]> {
  const { makeKeyRecord } = await import("../packages/keyroot/src/identity/keyRecord.ts");
  const { generateKeyPair } = await import("../packages/keyroot/src/identity/publicKey.ts");
  const { randomUserID } = await import("../packages/keyroot/src/identity/userID.ts");
  const keys = Array.from({ length: 7 }, () => generateKeyPair().publicKey);
  return Array.from({ length: USERS / keys.length }, () =>
    keys.map((key) => makeKeyRecord(randomUserID(), key)),
  ).flat();
}

function inProcessOfItsOwn(...args: string[]): number {
  return Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...args], { encoding: "utf8" }));
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return round(values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN);
}

function ratio(a: readonly number[], b: readonly number[]): number {
  return round(median(a) / median(b));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
