/**
 * Measures how one command publishes a million users on a local chain: CPU time and memory of the publisher's process, per
 * stage, with their limits; and the gas per user, compared with the least gas that any contract needs.
 *
 * `npm run bench:publish [users]` prints the figures, and writes them to bench/publish.json. It reads /proc, so it needs
 * Linux.
 */
import hre from "hardhat";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { generateKeyPair, makeKeyRecord, randomUserID, serializeKeyRecord, userIDToBytes } from "keyroot/identity";
import { startStack } from "@keyroot/operator/stack";

/** The limits for the publisher's process. */
const LIMITS = { cpuSecondsPerMillion: 60, residentMB: 600 };
const USERS = Number(process.argv[2] ?? 1_000_000);
/** How many users are published without an access list, to measure their gas. */
const PLAIN_USERS = 1400;
/** Users share keys: a new key takes a millisecond, and no check compares two of them. */
const KEYS = 1000;
/** Linux counts CPU time in hundredths of a second (USER_HZ). */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 100;

interface Sample {
  wallSeconds: number;
  cpuSeconds: number;
  residentMB: number;
}

interface Event {
  event?: string;
  stage?: string;
  userIDs?: string[];
  gasUsed?: number;
  error?: { message: string };
}

const [loadAtStart] = loadavg();
const dir = await mkdtemp(join(tmpdir(), "keyroot-bench-"));
process.env["KEYROOT_STACK_FILE"] = join(dir, "stack.json");
const stack = await startStack(hre, { ports: { chain: 0, files: 0 }, announce: true });
try {
  const records = join(dir, "users.jsonl");
  await writeRecords(records, USERS);
  const run = await publish(records, "auto");
  await writeRecords(records, PLAIN_USERS);
  const plain = await publish(records, "never");
  const figures = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
    // On a busy machine, even CPU time is longer.
    loadAtStart,
    command: `npm run bench:publish${USERS === 1_000_000 ? "" : ` ${USERS}`}`,
    users: USERS,
    transactions: run.transactions,
    process: {
      what: "of the publisher's process alone, start of Hardhat included; chain and file host run in another",
      cpuSeconds: run.total.cpuSeconds,
      cpuSecondsAllowed: (LIMITS.cpuSecondsPerMillion * USERS) / 1_000_000,
      mostResidentMB: run.mostResidentMB,
      residentMBAllowed: LIMITS.residentMB,
      wallSeconds: run.total.wallSeconds,
    },
    stages: run.stages,
    gas: {
      what: "a user of a transaction of 700; the ratio is to 21,000 + 22,100 a user + the ids' calldata",
      plain: plain.gas,
      withAccessList: run.gas,
    },
  };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(new URL("publish.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  await stack.close();
  await rm(dir, { recursive: true, force: true });
}

async function writeRecords(path: string, count: number): Promise<void> {
  const keys = Array.from({ length: KEYS }, () => makeKeyRecord(randomUserID(), generateKeyPair().publicKey));
  const file = createWriteStream(path);
  for (let i = 0; i < count; i++) {
    const record = { ...keys[i % KEYS], userID: randomUserID() } as (typeof keys)[number];
    if (!file.write(`${serializeKeyRecord(record)}\n`)) await once(file, "drain");
  }
  await once(file.end(), "close");
}

/** Runs the command and measures its process. */
async function publish(records: string, accessList: "auto" | "never") {
  const hardhat = "node_modules/hardhat/dist/src/cli.js";
  const args = ["keyroot", "publish", "--records", records, "--plan", join(dir, "plan"), "--access-list", accessList];
  const start = performance.now();
  const child = spawn(process.execPath, [hardhat, ...args, "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  const sample = (): Sample => ({ ...sampleOf(child.pid ?? 0), wallSeconds: (performance.now() - start) / 1000 });
  let last = sample();
  const watch = setInterval(() => {
    const now = sample();
    // A process that has ended has no memory any more.
    if (now.residentMB > 0) last = now;
  }, SAMPLE_MS);
  const begins: ({ stage: string } & Sample)[] = [{ stage: "starting, reading records", ...sample() }];
  const ratios: number[] = [];
  const gasPerUser: number[] = [];
  let transactions = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, stage, userIDs = [], gasUsed = 0, error } = JSON.parse(line) as Event;
    if (error !== undefined) throw new Error(error.message);
    if (event === "stage" && stage !== undefined) begins.push({ stage, ...sample() });
    if (event !== "published") continue;
    transactions++;
    if (userIDs.length !== 700) continue;
    ratios.push(gasUsed / floorOf(userIDs));
    gasPerUser.push(gasUsed / 700);
  }
  clearInterval(watch);
  const stages = begins.map(({ stage, ...from }, i) => {
    const to = begins[i + 1] ?? last;
    return {
      stage,
      cpuSeconds: round(to.cpuSeconds - from.cpuSeconds),
      wallSeconds: round(to.wallSeconds - from.wallSeconds),
      mostResidentMBSoFar: round(to.residentMB),
    };
  });
  const total = { cpuSeconds: round(last.cpuSeconds), wallSeconds: round(last.wallSeconds) };
  const gas = { gasPerUser: round(Math.max(...gasPerUser)), ratioToFloor: Math.round(Math.max(...ratios) * 1e5) / 1e5 };
  return { transactions, stages, total, mostResidentMB: round(last.residentMB), gas };
}

/** A process's CPU time and peak memory so far. */
function sampleOf(pid: number): { cpuSeconds: number; residentMB: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The fields after the name in brackets start with the third: user and system time are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    residentMB: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
  };
}

/** The least gas of any contract that stores a root per user: transaction, cold slots from zero, calldata. */
function floorOf(userIDs: readonly string[]): number {
  const bytes = userIDs.flatMap((userID) => Array.from(userIDToBytes(userID)));
  return 21_000 + 22_100 * userIDs.length + bytes.reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
