/**
 * What it costs to audit a million users: their files, in a folder, and their roots, on a chain (Anvil's). Beside it, in
 * the same run, the limit that it is held to: `openssl dgst -sha256` over the same files, and then `JSON.parse` of each.
 *
 * `npm run bench:audit` prints and records the figures in bench/audit.json; another number of users may follow.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { audit, verdictOf } from "../src/audit/audit.ts";
import { eachAtOnce } from "../src/audit/eachAtOnce.ts";
import { FileWorkers } from "../src/audit/fileWorkers.ts";
import { AuditState } from "../src/audit/state.ts";
import { UserIndex } from "../src/audit/userIndex.ts";
import { makeKeyRecord } from "../src/identity/keyRecord.ts";
import { generateKeyPair } from "../src/identity/publicKey.ts";
import { randomUserID, userIDToHex } from "../src/identity/userID.ts";
import { makeMerkleFile, serializeMerkleFile } from "../src/merkle/file.ts";
import { registryAbi } from "../src/publisher/registryAbi.ts";
import { blockAt } from "../src/registry/blocks.ts";
import { rpcCaller, type RpcCall } from "../src/transport/jsonRpc.ts";
import { startAnvil } from "../test/anvil/anvil.mts";

const run = promisify(execFile);

const USERS_PER_FILE = 700;
const KEYS = 100;
const ROUNDS = 3;
const LIMITS = { maxBytes: 2 ** 24, timeoutMs: 30_000 };
const WORKERS = availableParallelism();

const [, , role = "1000000", ...args] = process.argv;
if (role === "files") process.stdout.write(JSON.stringify(await fileSide(...(args as [string]))));
else if (role === "parse") process.stdout.write(JSON.stringify(parseAll(...(args as [string]))));
else if (role === "audit")
  process.stdout.write(JSON.stringify(await wholeAudit(...(args as [string, string, string]))));
else await compare(Number(role));

async function compare(users: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  const anvil = await startAnvil("--gas-limit", "30000000", "--prune-history");
  try {
    const call = rpcCaller(anvil.url, LIMITS);
    const contract = await deploy(call);
    await publishAll(call, contract, users, dir);
    const paths = readdirSync(dir).map((name) => join(dir, name));
    const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);

    const seconds = { ours: [] as number[], openssl: [] as number[], jsonParse: [] as number[] };
    for (let i = 0; i < ROUNDS; i++) {
      seconds.openssl.push(await timed(() => run("openssl", ["dgst", "-sha256", ...paths], { maxBuffer: 2 ** 30 })));
      seconds.jsonParse.push(await inProcessOfItsOwn<number>("parse", dir));
      seconds.ours.push(await inProcessOfItsOwn<number>("files", dir));
    }
    const limit = median(seconds.openssl) + median(seconds.jsonParse);
    const figures = {
      machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
      command: users === 1_000_000 ? "npm run bench:audit" : `npm run bench:audit ${users}`,
      files: { users, files: paths.length, bytes },
      fileSide: {
        what: `reading, judging in full and indexing all files, ${WORKERS} threads: median s of ${ROUNDS} rounds`,
        ours: median(seconds.ours),
        openssl: median(seconds.openssl),
        jsonParse: median(seconds.jsonParse),
        timesAsLong: round(median(seconds.ours) / limit),
      },
      audit: {
        what: "the whole audit, events and every user's root included: s, and MiB of memory as it goes on",
        ...(await inProcessOfItsOwn<object>("audit", dir, anvil.url, contract)),
      },
    };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    writeFileSync(new URL("audit.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
  } finally {
    await anvil.close();
    rmSync(dir, { recursive: true });
  }
}

/** Seconds to read, judge and index all files, and to find users who stand in several. */
async function fileSide(dir: string): Promise<number> {
  const start = performance.now();
  const users = new UserIndex();
  await using workers = new FileWorkers({ dir, ...LIMITS }, WORKERS);
  await eachAtOnce(readdirSync(dir), WORKERS * 4, async (name) => {
    const answer = await workers.check({ root: basename(name, ".json") });
    if (answer.kind !== "judged" || answer.users === undefined || answer.findings.length > 0) throw new Error(name);
    users.add(answer.users);
  });
  for (const places of users.inSeveralFiles()) throw new Error(places[0]?.userID);
  return (performance.now() - start) / 1000;
}

/** Seconds to do no more than parse all files. */
function parseAll(dir: string): number {
  const start = performance.now();
  for (const name of readdirSync(dir)) JSON.parse(readFileSync(join(dir, name), "utf8"));
  return (performance.now() - start) / 1000;
}

/** The whole audit: seconds, and memory at each tenth of the files. */
async function wholeAudit(dir: string, rpc: string, contract: string): Promise<object> {
  const call = rpcCaller(rpc, LIMITS);
  const chainId = Number(await call("eth_chainId", []));
  const { hash: genesis } = await blockAt(call, 0);
  const folder = mkdtempSync(join(tmpdir(), "keyroot-bench-state-"));
  const state = await AuditState.open(join(folder, "state.json"), { chainId, genesis, contract });
  const memory: number[] = [];
  const start = performance.now();
  const report = await audit({
    ...{
      call,
      contract,
      chainId,
      state,
      at: "latest",
      storageProof: false,
      workers: WORKERS,
      files: { dir, ...LIMITS },
    },
    onProgress: (stage, done, total) => {
      if (stage === "judging files" && done % Math.ceil(total / 10) === 0)
        memory.push(inMiB(process.memoryUsage.rss()));
    },
  });
  const seconds = round((performance.now() - start) / 1000);
  rmSync(folder, { recursive: true });
  if (verdictOf(report) !== "passed") throw new Error(JSON.stringify(report.findings.list.slice(0, 3)));
  return { seconds, memoryAtEachTenth: memory, mostMemory: inMiB(process.resourceUsage().maxRSS * 1024) };
}

async function deploy(call: RpcCall): Promise<string> {
  const [owner] = (await call("eth_accounts", [])) as [string];
  const { default: hre } = await import("hardhat");
  const { bytecode } = await hre.artifacts.readArtifact("PublicKeyRegistry");
  const data = bytecode + owner.slice(2).padStart(64, "0");
  const receipt = await receiptOf(call, await call("eth_sendTransaction", [{ from: owner, data, gas: "0x400000" }]));
  return (receipt as { contractAddress: string }).contractAddress.toLowerCase();
}

async function receiptOf(call: RpcCall, hash: unknown): Promise<unknown> {
  for (;;) {
    const receipt = await call("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receipt;
    await sleep(10);
  }
}

/** Writes all files and adds their roots. The users share real keys: no check looks at the keys of two users. */
async function publishAll(call: RpcCall, contract: string, users: number, dir: string): Promise<void> {
  const [from] = (await call("eth_accounts", [])) as [string];
  const keys = Array.from({ length: KEYS }, () => makeKeyRecord(randomUserID(), generateKeyPair().publicKey));
  const keyOf = (i: number) => keys[i % KEYS] ?? makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
  let last: unknown;
  for (let made = 0; made < users; made += USERS_PER_FILE) {
    const count = Math.min(USERS_PER_FILE, users - made);
    const records = Array.from({ length: count }, (_, i) => ({
      ...keyOf(i),
      userID: randomUserID(),
    }));
    const file = makeMerkleFile(records);
    writeFileSync(join(dir, `${file.tree.root}.json`), [...serializeMerkleFile(file)].join(""));
    const packed = records.map(({ userID }) => userIDToHex(userID)).join("");
    const data = registryAbi.encodeFunctionData("addMerkleTreeRoot", [`0x${file.tree.root}`, `0x${packed}`]);
    last = await call("eth_sendTransaction", [{ from, to: contract, data, gas: "0x1000000" }]);
  }
  await receiptOf(call, last);
}

/** Not waited for by standing still: who does not read on blocks Anvil in the end. */
async function inProcessOfItsOwn<T>(...args: string[]): Promise<T> {
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
