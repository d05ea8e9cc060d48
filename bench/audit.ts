/**
 * Measures an audit of many users, with the files in a folder and the roots on Anvil's chain. For comparison, the same
 * run measures parts of this work on the same number of threads:
 *
 * - `openssl dgst -sha256` over the files;
 * - `JSON.parse` of each file;
 * - `JSON.parse`, and OpenSSL's hash of every leaf and node;
 * - all of this, and the hash and check of every key.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import pMap from "p-map";
import { audit, AuditState, verdictOf } from "@keyroot/operator/audit";
import { generateKeyPair, makeKeyRecord, randomUserID } from "keyroot/internal/identity";
import { makeMerkleFile, type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { fetchGenesisHash } from "keyroot/internal/ethereum";
import { encodeAddMerkleTreeRoot } from "keyroot/internal/registry";
import { rpcCaller, type RpcCall } from "keyroot/internal/transport";
import { auditUsers } from "../packages/operator/src/audit/auditUsers.ts";
import { FileWorkers } from "../packages/operator/src/audit/fileWorkers.ts";
import { openEndpoint } from "../packages/operator/src/rpc/openEndpoint.ts";
import type { LeastWork } from "./audit/leastWork.ts";
import { startAnvil } from "../test/support/anvil/anvil.ts";
import { receiptOf } from "../test/support/chain/local.ts";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";

const run = promisify(execFile);

const USERS_PER_FILE = 700;
const KEYS = 100;
const LIMITS = { maxBytes: 2 ** 24, timeoutMs: 30_000 };
const WORKERS = availableParallelism();
/**
 * The numbers of users for the comparison. The whole audit has fewer users (`CHAIN_SIZES`), because it also has to
 * publish them on Anvil, and this takes ten times as long as the audit.
 */
const FILE_SIZES = SMALL ? [1400] : [100_000, 1_000_000];
const CHAIN_SIZES = SMALL ? [700] : [100_000];
/** The number of users for the count of requests, in files of the publisher's default size. */
const SMALL_FILES = { users: SMALL ? 640 : 10_000, usersPerFile: 64 };
/** The delay in ms of every request in the audit of these files. It simulates an endpoint that is far away. */
const DELAY_MS = SMALL ? 1 : 100;
const ROUNDS = SMALL ? 1 : 3;

const [, , role = "", ...args] = process.argv;
if (role === "load") process.stdout.write(JSON.stringify(await loadAll(...(args as [string]))));
else if (role === "least")
  process.stdout.write(JSON.stringify(await workLeast(...(args as [string, LeastWork["work"]]))));
else if (role === "audit")
  process.stdout.write(JSON.stringify(await auditAll(...(args as [string, string, string, string]))));
else await compare();

async function compare(): Promise<void> {
  const files: Compared[] = [];
  for (const users of FILE_SIZES) files.push(await compareFiles(users));
  const chain: Row[] = [];
  for (const users of CHAIN_SIZES) chain.push(await measureAudit(users));
  const smallFiles = await measureAudit(SMALL_FILES.users, SMALL_FILES.usersPerFile, DELAY_MS);
  chain.push(smallFiles);
  report({
    figures: {
      files: {
        what: `s for all files, medians of ${ROUNDS}, each by ${WORKERS} threads or processes: reading, auditing and indexing them; hashing and parsing them, no more`,
        rows: files.flatMap(({ users, ours, openssl, jsonParse, treeHashes, keyChecks }) => [
          { users, by: "Keyroot", seconds: round(ours) },
          { users, by: "openssl dgst and JSON.parse", seconds: round(openssl + jsonParse) },
          { users, by: "JSON.parse, hashes of the tree and checks of keys", seconds: round(keyChecks) },
          { users, by: "JSON.parse and hashes of the tree", seconds: round(treeHashes) },
          { users, by: "openssl dgst", seconds: round(openssl) },
          { users, by: "JSON.parse", seconds: round(jsonParse) },
        ]),
      },
      memory: {
        what: "MiB of the process, after each tenth of the files, in the last round",
        rows: files.flatMap(({ users, memory }) => memory.map((mebibytes, i) => ({ users, tenth: i + 1, mebibytes }))),
      },
      chain: {
        what: `the whole audit, ${WORKERS} threads, with Anvil on the same cores: ms added to each request; s, MiB at the most, and requests to the endpoint`,
        rows: chain,
      },
    },
    ratios: [
      {
        what: `requests of the audit of ${SMALL_FILES.users.toLocaleString("en")} users in files of ${SMALL_FILES.usersPerFile}`,
        value: smallFiles.requests,
        atMost: 60,
      },
      {
        what: `s of the same audit, with ${DELAY_MS} ms added to each request`,
        value: smallFiles.seconds,
        atMost: 2.5,
      },
      ...files.flatMap(({ users, ours, openssl, jsonParse, treeHashes, keyChecks }) => {
        const what = `auditing the files of ${users.toLocaleString("en")} users, relative to`;
        return [
          {
            what: `${what} hashing and parsing them`,
            value: round(ours / (openssl + jsonParse)),
          },
          { what: `${what} parsing them and hashing their trees`, value: round(ours / treeHashes) },
          {
            what: `${what} parsing them, hashing their trees and checking their keys`,
            value: round(ours / keyChecks),
          },
        ];
      }),
    ],
  });
}

interface Compared {
  users: number;
  /** The median times in seconds of the audit's own code, of `openssl dgst`, and of `JSON.parse`. */
  ours: number;
  openssl: number;
  jsonParse: number;
  /** The time for `JSON.parse` and the hash of every leaf and node. */
  treeHashes: number;
  /** The time for the same work, the hash of the file, and the hash and check of every key. */
  keyChecks: number;
  memory: readonly number[];
}

/** Measures the files without a chain. */
async function compareFiles(users: number): Promise<Compared> {
  progress(`files of ${users} users`);
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  try {
    const paths: string[] = [];
    for (const { tree } of makeFiles(dir, users)) paths.push(join(dir, `${tree.root}.json`));
    const loads: { seconds: number; memory: number[] }[] = [];
    const openssl: number[] = [];
    const [jsonParse, treeHashes, keyChecks]: [number[], number[], number[]] = [[], [], []];
    for (let i = 0; i < ROUNDS; i++) {
      openssl.push(await timed(() => Promise.all(shares(paths).map(hashFiles))));
      jsonParse.push(await inOwnProcess<number>("least", dir, "parse"));
      treeHashes.push(await inOwnProcess<number>("least", dir, "tree"));
      keyChecks.push(await inOwnProcess<number>("least", dir, "keys"));
      loads.push(await inOwnProcess<{ seconds: number; memory: number[] }>("load", dir));
    }
    const ours = median(loads.map(({ seconds }) => seconds));
    const hashing = { openssl: median(openssl), treeHashes: median(treeHashes), keyChecks: median(keyChecks) };
    return { users, ours, ...hashing, jsonParse: median(jsonParse), memory: loads.at(-1)?.memory ?? [] };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

type AuditRow = Row & { seconds: number; requests: number };

/**
 * Measures the whole audit, with all events and the roots of all users.
 * @param delayMs the time in ms to add to each request
 */
async function measureAudit(users: number, usersPerFile = USERS_PER_FILE, delayMs = 0): Promise<AuditRow> {
  progress(`chain with ${users} users in files of ${usersPerFile}`);
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  const anvil = await startAnvil("--gas-limit", "30000000", "--prune-history");
  try {
    const call = rpcCaller(anvil.url, LIMITS);
    // Import on demand, so that child processes do not load Hardhat.
    const { deployOn } = await import("../test/support/chain/freshRegistry.ts");
    const [owner] = (await call("eth_accounts", [])) as [string];
    const contract = (await deployOn(call, owner)).toLowerCase();
    await publishAll(call, contract, dir, users, usersPerFile);
    const paths = readdirSync(dir).map((name) => join(dir, name));
    const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    const measured = await inOwnProcess<AuditRow>("audit", dir, anvil.url, contract, String(delayMs));
    return { users, files: paths.length, bytes, delayMs, ...measured };
  } finally {
    await anvil.close();
    rmSync(dir, { recursive: true });
  }
}

/** Measures the time and memory for reading and auditing all files, and for finding users with several keys. */
async function loadAll(dir: string): Promise<{ seconds: number; memory: number[] }> {
  const names = readdirSync(dir);
  const memory: number[] = [];
  const start = performance.now();
  const users = new Map<string, Uint8Array>();
  await using workers = new FileWorkers({ dir, ...LIMITS }, WORKERS);
  let done = 0;
  const load = async (name: string) => {
    const result = await workers.load({ root: basename(name, ".json") });
    if (result.kind !== "audited" || result.users === undefined || result.findings.length > 0) throw new Error(name);
    users.set(name, result.users);
    if (++done % Math.ceil(names.length / 10) === 0) memory.push(inMiB(process.memoryUsage.rss()));
  };
  await pMap(names, load, { concurrency: workers.capacity });
  const all = { roots: names, usersOf: (name: string) => users.get(name), others: () => [] };
  for (const { message } of auditUsers(all)) throw new Error(message);
  memory.push(inMiB(process.memoryUsage.rss()));
  return { seconds: (performance.now() - start) / 1000, memory };
}

/** Returns the seconds for the least work with all files, on as many threads as an audit uses. */
async function workLeast(dir: string, work: LeastWork["work"]): Promise<number> {
  const script = new URL("audit/leastWork.ts", import.meta.url);
  const paths = readdirSync(dir).map((name) => join(dir, name));
  const start = performance.now();
  const threads = shares(paths).map((paths) => {
    const workerData: LeastWork = { paths, work };
    return once(new Worker(script, { workerData }), "exit");
  });
  await Promise.all(threads);
  return (performance.now() - start) / 1000;
}

function hashFiles(paths: readonly string[]): Promise<unknown> {
  return run("openssl", ["dgst", "-sha256", ...paths], { maxBuffer: 2 ** 30 });
}

function shares(paths: readonly string[]): string[][] {
  return Array.from({ length: WORKERS }, (_, worker) => paths.filter((_, i) => i % WORKERS === worker));
}

/** Runs the whole audit, and returns its time in seconds and its peak memory. */
async function auditAll(dir: string, rpc: string, contract: string, delayMs: string): Promise<AuditRow> {
  let requests = 0;
  const counting: typeof fetch = async (...request) => {
    requests++;
    await sleep(Number(delayMs));
    return fetch(...request);
  };
  const call = openEndpoint(rpc, { fetch: counting });
  const chainId = Number(await call("eth_chainId", []));
  const genesisHash = await fetchGenesisHash(call);
  const folder = mkdtempSync(join(tmpdir(), "keyroot-bench-state-"));
  const state = await AuditState.open(join(folder, "state.sqlite"), { chainId, genesisHash, contract });
  const start = performance.now();
  requests = 0;
  const result = await audit({
    call,
    contract,
    chainId,
    state,
    workers: WORKERS,
    files: { dir, ...LIMITS },
  });
  const seconds = round((performance.now() - start) / 1000);
  state[Symbol.dispose]();
  rmSync(folder, { recursive: true });
  if (verdictOf(result) !== "passed") throw new Error(JSON.stringify(result.findings.list.slice(0, 3)));
  return { seconds, mebibytes: inMiB(process.resourceUsage().maxRSS * 1024), requests };
}

/** Writes all files. The users share a few real keys, because no check compares the keys of two users. */
function* makeFiles(dir: string, users: number, usersPerFile = USERS_PER_FILE): Generator<MerkleFile> {
  const keys = Array.from({ length: KEYS }, () => makeKeyRecord(randomUserID(), generateKeyPair().publicKey));
  for (let left = users; left > 0; left -= usersPerFile) {
    const count = Math.min(left, usersPerFile);
    const sharing = Array.from({ length: Math.ceil(count / KEYS) }, () => keys).flat();
    const file = makeMerkleFile(sharing.slice(0, count).map((record) => ({ ...record, userID: randomUserID() })));
    writeFileSync(join(dir, `${file.tree.root}.json`), [...serializeMerkleFile(file)].join(""));
    yield file;
  }
}

/** Writes all files, and adds the files' roots to the registry. */
async function publishAll(
  call: RpcCall,
  contract: string,
  dir: string,
  users: number,
  usersPerFile: number,
): Promise<void> {
  const [from] = (await call("eth_accounts", [])) as [string];
  let last: unknown;
  for (const { records, tree } of makeFiles(dir, users, usersPerFile)) {
    const userIDs = records.map(({ userID }) => userID);
    const data = encodeAddMerkleTreeRoot(tree.root, userIDs);
    last = await call("eth_sendTransaction", [{ from, to: contract, data, gas: "0x1000000" }]);
  }
  await receiptOf(call, last);
}

/**
 * Runs one part of the benchmark in a separate process. The calling process reads Anvil's output, so the work must not
 * block it.
 */
async function inOwnProcess<T>(...args: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [fileURLToPath(import.meta.url), ...args]);
  return JSON.parse(stdout) as T;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function inMiB(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
