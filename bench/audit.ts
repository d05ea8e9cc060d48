/**
 * What it costs to audit a million users: their files in a folder and their roots on a chain (Anvil's). In the same run,
 * what it is compared with: `openssl dgst -sha256` over the same files, and `JSON.parse` of each.
 *
 * `npm run bench:audit` prints and records the figures in bench/audit.json. `npm run bench:audit -- files 200000` does
 * the files alone, `-- chain 200000` the whole audit alone, with another number of users; a number of rounds may follow.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pMap from "p-map";
import { audit, AuditState, FileWorkers, UserIndex, verdictOf } from "@keyroot/operator/audit";
import { generateKeyPair, makeKeyRecord, randomUserID } from "keyroot/identity";
import { makeMerkleFile, type MerkleFile, serializeMerkleFile } from "keyroot/merkle";
import { fetchGenesisHash } from "keyroot/ethereum";
import { encodeAddMerkleTreeRoot } from "keyroot/registry";
import { rpcCaller, type RpcCall } from "keyroot/transport";
import { startAnvil } from "../fixtures/anvil/anvil.ts";
import { receiptOf } from "../fixtures/receiptOf.ts";

const run = promisify(execFile);

const USERS_PER_FILE = 700;
const KEYS = 100;
const LIMITS = { maxBytes: 2 ** 24, timeoutMs: 30_000 };
const WORKERS = availableParallelism();
/** The load average of the last minute: what else the machine was doing. */
const LOAD_BEFORE = round(loadavg()[0] ?? NaN);

const [, , role = "both", ...args] = process.argv;
const users = Number(args[0] ?? 1_000_000);
const rounds = Number(args[1] ?? 3);
if (role === "load") process.stdout.write(JSON.stringify(await loadAll(...(args as [string]))));
else if (role === "parse") process.stdout.write(JSON.stringify(parseAll(...(args as [string]))));
else if (role === "audit") process.stdout.write(JSON.stringify(await auditAll(...(args as [string, string, string]))));
else {
  if (role !== "chain") await compareFiles();
  if (role !== "files") await measureAudit();
}

/** The files alone, without a chain. */
async function compareFiles(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  try {
    const paths: string[] = [];
    for (const { tree } of makeFiles(dir)) paths.push(join(dir, `${tree.root}.json`));
    const loads: { seconds: number; memory: number[] }[] = [];
    const [openssl, jsonParse]: [number[], number[]] = [[], []];
    for (let i = 0; i < rounds; i++) {
      openssl.push(await timed(() => run("openssl", ["dgst", "-sha256", ...paths], { maxBuffer: 2 ** 30 })));
      jsonParse.push(await inOwnProcess<number>("parse", dir));
      loads.push(await inOwnProcess<{ seconds: number; memory: number[] }>("load", dir));
    }
    const ours = loads.map(({ seconds }) => seconds);
    record("files", paths, {
      what: `reading, auditing and indexing all files, ${WORKERS} threads: median s of ${rounds} rounds`,
      ours: median(ours),
      openssl: median(openssl),
      jsonParse: median(jsonParse),
      timesAsLong: round(median(ours) / (median(openssl) + median(jsonParse))),
      memory: "MiB of the process, after each tenth of the files, in the last round",
      memoryAtEachTenth: loads.at(-1)?.memory,
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The whole audit, with all events and every user's root. */
async function measureAudit(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  const anvil = await startAnvil("--gas-limit", "30000000", "--prune-history");
  try {
    const call = rpcCaller(anvil.url, LIMITS);
    // Imported here, so that Hardhat is not part of the memory of the processes below.
    const { deployOn } = await import("../fixtures/freshRegistry.ts");
    const [owner] = (await call("eth_accounts", [])) as [string];
    const contract = (await deployOn(call, owner)).toLowerCase();
    await publishAll(call, contract, dir);
    const paths = readdirSync(dir).map((name) => join(dir, name));
    record("chain", paths, {
      what: `the whole audit, ${WORKERS} threads, with Anvil on the same cores: s, and MiB after each tenth of the files`,
      ...(await inOwnProcess<object>("audit", dir, anvil.url, contract)),
    });
  } finally {
    await anvil.close();
    rmSync(dir, { recursive: true });
  }
}

/** Prints figures and records them in place of the older ones of their kind. */
function record(kind: "files" | "chain", paths: readonly string[], figures: object): void {
  const path = new URL("audit.json", import.meta.url);
  const older = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as object) : {};
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const measured = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
    command: `npm run bench:audit -- ${kind} ${[users, ...args.slice(1)].join(" ")}`,
    loadBefore: LOAD_BEFORE,
    input: { users, files: paths.length, bytes },
    ...figures,
  };
  const text = JSON.stringify({ ...older, [kind]: measured }, null, 2);
  process.stdout.write(`${text}\n`);
  writeFileSync(path, `${text}\n`);
}

/** Seconds to read, audit and index all files, and to find users in several of them; and the memory. */
async function loadAll(dir: string): Promise<{ seconds: number; memory: number[] }> {
  const names = readdirSync(dir);
  const memory: number[] = [];
  const start = performance.now();
  const index = new UserIndex();
  await using workers = new FileWorkers({ dir, ...LIMITS }, WORKERS);
  let done = 0;
  const load = async (name: string) => {
    const result = await workers.load({ root: basename(name, ".json") });
    if (result.kind !== "audited" || result.users === undefined || result.findings.length > 0) throw new Error(name);
    index.add(result.users);
    if (++done % Math.ceil(names.length / 10) === 0) memory.push(inMiB(process.memoryUsage.rss()));
  };
  await pMap(names, load, { concurrency: workers.capacity });
  for (const places of index.inSeveralFiles()) throw new Error(places[0]?.userID);
  memory.push(inMiB(process.memoryUsage.rss()));
  return { seconds: (performance.now() - start) / 1000, memory };
}

/** Seconds to do no more than parse all files. */
function parseAll(dir: string): number {
  const start = performance.now();
  for (const name of readdirSync(dir)) JSON.parse(readFileSync(join(dir, name), "utf8"));
  return (performance.now() - start) / 1000;
}

/** The whole audit: seconds, and memory at each tenth of the files. */
async function auditAll(dir: string, rpc: string, contract: string): Promise<object> {
  const call = rpcCaller(rpc, LIMITS);
  const chainId = Number(await call("eth_chainId", []));
  const genesisHash = await fetchGenesisHash(call);
  const folder = mkdtempSync(join(tmpdir(), "keyroot-bench-state-"));
  const state = await AuditState.open(join(folder, "state.sqlite"), { chainId, genesisHash, contract });
  const memory: number[] = [];
  const start = performance.now();
  const report = await audit({
    call,
    contract,
    chainId,
    state,
    workers: WORKERS,
    files: { dir, ...LIMITS },
    onProgress: (stage, done, total) => {
      if (stage === "auditing files" && done % Math.ceil(total / 10) === 0)
        memory.push(inMiB(process.memoryUsage.rss()));
    },
  });
  const seconds = round((performance.now() - start) / 1000);
  state[Symbol.dispose]();
  rmSync(folder, { recursive: true });
  if (verdictOf(report) !== "passed") throw new Error(JSON.stringify(report.findings.list.slice(0, 3)));
  return { seconds, memoryAtEachTenth: memory, mostMemory: inMiB(process.resourceUsage().maxRSS * 1024) };
}

/** Writes all files. The users share a few real keys: no check compares the keys of two users. */
function* makeFiles(dir: string): Generator<MerkleFile> {
  const keys = Array.from({ length: KEYS }, () => makeKeyRecord(randomUserID(), generateKeyPair().publicKey));
  for (let left = users; left > 0; left -= USERS_PER_FILE) {
    const sharing = Array.from({ length: Math.ceil(Math.min(left, USERS_PER_FILE) / KEYS) }, () => keys).flat();
    const file = makeMerkleFile(sharing.slice(0, left).map((record) => ({ ...record, userID: randomUserID() })));
    writeFileSync(join(dir, `${file.tree.root}.json`), [...serializeMerkleFile(file)].join(""));
    yield file;
  }
}

/** Writes all files and adds their roots. */
async function publishAll(call: RpcCall, contract: string, dir: string): Promise<void> {
  const [from] = (await call("eth_accounts", [])) as [string];
  let last: unknown;
  for (const { records, tree } of makeFiles(dir)) {
    const userIDs = records.map(({ userID }) => userID);
    const data = encodeAddMerkleTreeRoot(tree.root, userIDs);
    last = await call("eth_sendTransaction", [{ from, to: contract, data, gas: "0x1000000" }]);
  }
  await receiptOf(call, last);
}

/** Runs a role in its own process, without blocking this one, which must read what Anvil prints. */
async function inOwnProcess<T>(...args: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [fileURLToPath(import.meta.url), ...args]);
  return JSON.parse(stdout) as T;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function median(values: readonly number[]): number {
  return round(values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN);
}

function inMiB(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
