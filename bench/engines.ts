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
import { answerRootCalls } from "./verify/rootCalls.ts";
import { progress, report, round, SMALL } from "./runner/report.ts";

/** The users of a file: the publisher's default, and the most for one transaction. */
const SIZES = SMALL ? [2, 20] : [64, 700];
/** The time in ms of one verification on a processor like this one, by engine and number of users. */
const GOALS: Partial<Record<Engine, Readonly<Record<number, number>>>> = {
  Hermes: { 64: 12, 700: 140 },
  JavaScriptCore: { 64: 15, 700: 130 },
};
/** The number of verifications after the first one, of which the benchmark measures the mean time. */
const FURTHER = SMALL ? 2 : 20;
const CONTRACT = `0x${"ab".repeat(20)}`;
const HOSTS = { rpc: "https://rpc.example", files: "https://files.example" };

progress("making the data");
const bodies = new Map<string, Uint8Array<ArrayBuffer>>();
const encode = (text: string) => new TextEncoder().encode(text);
const rootOf = new Map<string, string>();

/** Makes a file, and returns one of its users. */
function makeUser(size: number): Task["users"][number] {
  const file = makeMerkleFile(sampleRecords(size));
  const record = file.records[size >> 1];
  if (record === undefined) throw new Error("The file has no record.");
  const { root } = file.tree;
  rootOf.set(userIDToHex(record.userID), root);
  bodies.set(`${HOSTS.files}/${root}.json `, encode([...serializeMerkleFile(file)].join("")));
  return record;
}

/** Answers a request with a file, or as the RPC endpoint. */
function answerTo(request: string): Uint8Array<ArrayBuffer> {
  const body = bodies.get(request);
  if (body !== undefined) return body;
  if (!request.startsWith(HOSTS.rpc)) throw new Error(`There is no answer to ${request}.`);
  const calls = request.slice(request.indexOf(" "));
  return encode(answerRootCalls(calls, (userID) => rootOf.get(userID) ?? ""));
}

const options: Omit<VerifierOptions, "trust"> = {
  rpc: HOSTS.rpc,
  chainId: 1,
  contract: CONTRACT,
  merkleUrl: HOSTS.files,
};
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
 * Runs a task in an engine, and returns the engine's processor time in seconds. The task first runs in Node, which
 * records the responses for the engine.
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

const rows: { engine: Engine; users: number; ms: number }[] = [];
try {
  for (const users of SIZES) {
    const same = Array<Task["users"][number]>(1 + FURTHER).fill(makeUser(users));
    for (const engine of ENGINES) {
      progress(`${engine}, ${users} users`);
      rows.push({ engine, users, ms: round(await cpuMsOf(engine, { options, users: same, fresh: true })) });
    }
  }
} finally {
  await rm(folder, { recursive: true });
}

report({
  figures: { time: { what: "ms of processor time to verify one user, by the number of users in the file", rows } },
  ratios: rows.flatMap(({ engine, users, ms }) => {
    const atMost = GOALS[engine]?.[users];
    return atMost === undefined ? [] : [{ what: `ms to verify one of ${users} users in ${engine}`, value: ms, atMost }];
  }),
});
