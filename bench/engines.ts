/**
 * Measures the processor time of verifications in the engines of phones.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { userIDToHex, type VerifierOptions } from "keyroot";
import { makeMerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { run } from "../test/support/packages/installPackages.ts";
import {
  bundleProgram,
  commandOf,
  type Engine,
  ENGINES,
  installEngines,
} from "../test/support/packages/phoneEngines.ts";
import { sampleRecords } from "../test/support/samples.ts";
import { type Task, verifyAll } from "./engines/verifyAll.ts";
import { progress, report, round, SMALL } from "./runner/report.ts";

const USERS = SMALL ? 20 : 700;
/** The number of verifications after the first one, of which the benchmark measures the mean time. */
const FURTHER = SMALL ? 2 : 20;
const CONTRACT = `0x${"ab".repeat(20)}`;
const HOSTS = { rpc: "https://rpc.example", files: "https://files.example" };

progress("making the data");
const files = Array.from({ length: 1 + FURTHER }, (_, i) => makeMerkleFile(sampleRecords(USERS, i + 1)));
const bodies = new Map<string, Uint8Array<ArrayBuffer>>();
const encode = (text: string) => new TextEncoder().encode(text);
const users: Task["users"][number][] = [];
const rootOf = new Map<string, string>();
for (const [i, file] of files.entries()) {
  const { tree, records } = file;
  const [record] = records.slice((i * 37) % USERS);
  if (record === undefined) throw new Error("A file has no record.");
  users.push(record);
  rootOf.set(userIDToHex(record.userID), tree.root);
  bodies.set(`${HOSTS.files}/${tree.root}.json `, encode([...serializeMerkleFile(file)].join("")));
}

/** Answers a request with a file, or as the RPC endpoint. */
function answerTo(request: string): Uint8Array<ArrayBuffer> {
  const body = bodies.get(request);
  if (body !== undefined) return body;
  if (!request.startsWith(HOSTS.rpc)) throw new Error(`There is no answer to ${request}.`);
  const calls = JSON.parse(request.slice(request.indexOf(" "))) as Call | Call[];
  return encode(JSON.stringify(Array.isArray(calls) ? calls.map(answerToCall) : answerToCall(calls)));
}

interface Call {
  id: number;
  method: string;
  params: [{ data: string }];
}

function answerToCall({ id, method, params: [call] }: Call): object {
  const blockNumber = (24_000_000).toString(16).padStart(64, "0");
  const userID = method === "eth_call" ? call.data.slice(10, 50) : "";
  const root = rootOf.get(userID) ?? "";
  // `getUserInfo` returns the root and the number, `getMerkleTreeRoot` the root, and `getBlockNumber` the number.
  const needsNumber = root === "" || call.data.startsWith("0x829a34c6");
  const result = method === "eth_chainId" ? "0x1" : `0x${root}${needsNumber ? blockNumber : ""}`;
  return { jsonrpc: "2.0", id, result };
}

const options: Omit<VerifierOptions, "trust"> = {
  rpc: HOSTS.rpc,
  chainId: 1,
  contract: CONTRACT,
  merkleUrl: HOSTS.files,
};
const same = users.map(() => users[0] ?? users).flat();

const tools = await installEngines();
const contents = await readFile(join(import.meta.dirname, "engines/program.js"), "utf8");
const program = await bundleProgram(contents, join(import.meta.dirname, "engines"), tools);
const folder = await mkdtemp(join(tmpdir(), "keyroot-bench-engines-"));

/** Returns the processor time of one further verification in ms, at least 0.1. */
async function cpuMsOf(engine: Engine, task: Task): Promise<number> {
  const [one, all] = [
    await secondsOf(engine, { ...task, users: task.users.slice(0, 1) }),
    await secondsOf(engine, task),
  ];
  return Math.max(0.1, ((all - one) * 1000) / FURTHER);
}

/**
 * Runs a task in an engine, and returns its processor time in s. The task runs in Node first, to record the responses.
 */
async function secondsOf(engine: Engine, task: Task): Promise<number> {
  const answers: Record<string, string> = {};
  const record = (request: string) => {
    const body = answerTo(request);
    answers[request] = Buffer.from(body).toString("latin1");
    return body;
  };
  await verifyAll(task, record);
  const data = Object.entries({ answers, task })
    .map(([name, value]) => `var ${name} = ${JSON.stringify(value)};`)
    .join("\n");
  const [shell, ...args] = await commandOf(engine, data, program, join(folder, `${engine}.js`), tools);
  // Switch the compiler off, because JavaScriptCore may not compile to machine code in iOS apps.
  if (engine === "JavaScriptCore") args.unshift("--useJIT=false");
  const { stdout, stderr } = await run("bash", ["-c", 'TIMEFORMAT="%U %S"; time "$@"', "bash", shell, ...args]);
  if (stdout.trim() !== "verified") throw new Error(`${engine}: ${stdout}`);
  return stderr
    .trim()
    .split(" ")
    .map(Number)
    .reduce((sum, seconds) => sum + seconds);
}

const rows: { engine: Engine; what: string; ms: number }[] = [];
try {
  for (const engine of ENGINES) {
    progress(engine);
    const wholeFile = await cpuMsOf(engine, { options, users: same, fresh: true });
    rows.push({ engine, what: "whole file", ms: round(wholeFile) });
  }
} finally {
  await rm(folder, { recursive: true });
}

report({
  figures: { time: { what: `ms of processor time to verify one of ${USERS} users, in the engines of phones`, rows } },
  ratios: [],
});
