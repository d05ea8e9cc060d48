/**
 * Measures what it costs to verify one user of a 700-user file, next to two other measurements of the same run: `JSON.parse`
 * of that file, and the method of the format's first clients, which rebuild the tree with the npm package merkle-tree-gen.
 *
 * `npm run bench:verify` packs the library, measures it, prints the figures and writes them to bench/verify.json.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { KeyRecord } from "keyroot/identity";

const USERS = 700;
const COLD_RUNS = 15;
const WARM_RUNS = 300;
const WARM_UP = 100;

/** What a process of its own does and measures. Each gets the file's path and the user's id; `library`, its module too. */
const COLD = { library: verifyByLibrary, "parse-only": parseOnly, "first-clients": verifyByFirstClients } as const;
type Role = keyof typeof COLD;

const [, , role, ...args] = process.argv;
if (role === undefined) await compare();
else process.stdout.write(String(await COLD[role as Role](...(args as [string, string, string]))));

async function compare(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  try {
    const figures = await measure(dir);
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    writeFileSync(new URL("verify.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function measure(dir: string): Promise<object> {
  const { makeMerkleFile, serializeMerkleFile } = await import("keyroot/merkle");
  const { verifyFile } = await import("keyroot/verifier");
  const merkleFile = makeMerkleFile(await sampleRecords());
  const { root } = merkleFile.tree;
  const path = join(dir, `${root}.json`);
  const userID = merkleFile.records[0]?.userID ?? "";
  writeFileSync(path, [...serializeMerkleFile(merkleFile)].join(""));

  const script = fileURLToPath(new URL("../scripts/packPackages.ts", import.meta.url));
  execFileSync(process.execPath, [script, "keyroot", "--out", dir]);
  const library = pathToFileURL(join(dir, "keyroot", "dist", "verifier", "index.js")).href;
  const cold: Record<Role, number[]> = { library: [], "first-clients": [], "parse-only": [] };
  for (let i = 0; i < COLD_RUNS; i++) {
    for (const [name, times] of Object.entries(cold)) times.push(inNewProcess(name, path, userID, library));
  }

  const bytes = readFileSync(path);
  const query = { userID, chainId: 1, contract: "" };
  const verify = () => verifyFile(query, root, bytes);
  const parse = (): unknown => JSON.parse(new TextDecoder().decode(bytes));
  for (let i = 0; i < WARM_UP; i++) {
    verify();
    parse();
  }
  const warm = { verify: [] as number[], parse: [] as number[] };
  for (let i = 0; i < WARM_RUNS; i++) {
    warm.verify.push(timeOf(verify));
    warm.parse.push(timeOf(parse));
  }

  return {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
    command: "npm run bench:verify",
    file: { users: USERS, bytes: bytes.length },
    cold: {
      what: "in a new process, including the time to load modules: median ms",
      library: median(cold.library),
      firstClients: median(cold["first-clients"]),
      timesAsFast: ratio(cold["first-clients"], cold.library),
      parseOnly: median(cold["parse-only"]),
      parseOnlyTimesAsFast: ratio(cold["first-clients"], cold["parse-only"]),
    },
    warm: {
      what: "median ms; JSON.parse gets the file's bytes, as the verifier does",
      verify: median(warm.verify),
      jsonParse: median(warm.parse),
      timesAsLong: ratio(warm.verify, warm.parse),
    },
  };
}

/** Milliseconds to load the packed library, read the file, and verify the user with all checks. */
async function verifyByLibrary(path: string, userID: string, library: string): Promise<number> {
  const start = performance.now();
  const { verifyFile } = (await import(library)) as typeof import("keyroot/verifier");
  verifyFile({ userID, chainId: 1, contract: "" }, rootOf(path), readFileSync(path));
  return performance.now() - start;
}

/** Milliseconds to read the file and parse it, which every verifier must do. */
function parseOnly(path: string): number {
  const start = performance.now();
  JSON.parse(readFileSync(path, "utf8"));
  return performance.now() - start;
}

/** Milliseconds to load merkle-tree-gen, read the file, rebuild its tree, compare the root and look the user up. */
async function verifyByFirstClients(path: string, userID: string): Promise<number> {
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
  const { userID: found } = JSON.parse(values[lookup[userID] ?? -1] ?? "{}") as KeyRecord;
  if (root !== rootOf(path) || found !== userID) throw new Error("The file does not verify.");
  return performance.now() - start;
}

function rootOf(path: string): string {
  return basename(path, ".json");
}

/** Records with real keys. A few keys are enough: making a pair takes a millisecond, and no check compares two keys. */
async function sampleRecords(): Promise<KeyRecord[]> {
  const { generateKeyPair, makeKeyRecord, randomUserID } = await import("keyroot/identity");
  const keys = Array.from({ length: 7 }, () => generateKeyPair().publicKey);
  return Array.from({ length: USERS / keys.length }, () =>
    keys.map((key) => makeKeyRecord(randomUserID(), key)),
  ).flat();
}

function inNewProcess(...args: string[]): number {
  return Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...args], { encoding: "utf8" }));
}

function timeOf(work: () => unknown): number {
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
