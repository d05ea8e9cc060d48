/**
 * Measures one command that publishes up to a million users on a local chain. It records the processor time and memory
 * of the publisher's process for each stage. For comparison, a plain script reads, checks, writes and reads back the
 * same data, and the gas per user is compared with the minimum of any contract.
 *
 * `node bench/publish.ts USERS …` measures other numbers of users. The benchmark needs Linux, because it reads /proc.
 */
import hre from "hardhat";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import {
  generateKeyPair,
  makeKeyRecord,
  randomUserID,
  serializeKeyRecord,
  userIDToBytes,
} from "keyroot/internal/identity";
import { startStack } from "@keyroot/service/stack";
import { type ProcessSample, sampleOf } from "./runner/processSample.ts";
import { progress, report, round, SMALL } from "./runner/report.ts";

const sizes = process.argv.slice(2).map(Number).filter(Boolean);
const SIZES = sizes.length > 0 ? sizes : SMALL ? [700] : [10_000, 100_000, 1_000_000];
/**
 * The number of keys that all users share. Creating a key takes a millisecond, so a key for every user would take too
 * long. The result is the same, because no check compares the keys of two users.
 */
const KEYS = SMALL ? 10 : 1000;
const SAMPLE_MS = 100;

interface Sample extends ProcessSample {
  wallSeconds: number;
}

interface Event {
  event?: string;
  stage?: string;
  userIDs?: string[];
  gasUsed?: number;
  error?: { message: string };
}

const dir = await mkdtemp(join(tmpdir(), "keyroot-bench-"));
const records = join(dir, "users.jsonl");
process.env["KEYROOT_STACK_FILE"] = join(dir, "stack.json");
const stack = await startStack(hre, { ports: { chain: 0, files: 0 }, announce: true });
try {
  const runs = [];
  for (const users of SIZES) {
    progress(`${users} users`);
    const run = await publish(users);
    runs.push({ users, ...run, plainSeconds: await runPlainScript() });
  }
  const largest = runs.at(-1);
  if (largest === undefined) throw new Error("There are no sizes.");
  report({
    figures: {
      runs: {
        what: "the publisher's process, start of Hardhat included; chain and file host run in another",
        rows: runs.map(({ users, transactions, total, mostResidentMB }) => {
          const usersPerSecond = round(users / total.wallSeconds);
          return { users, transactions, ...total, usersPerSecond, mostResidentMB };
        }),
      },
      stages: {
        what: "by stage; memory is the peak so far, in MB",
        rows: runs.flatMap(({ users, stages }) => stages.map((stage) => ({ users, ...stage }))),
      },
      plainScript: {
        what: "a plain script that reads and checks the same records, makes and writes the files, reads them back and hashes their trees: no Hardhat, chain and file host",
        rows: runs.map(({ users, plainSeconds }) => ({ users, cpuSeconds: round(plainSeconds) })),
      },
      gas: {
        what: "gas of a user in a transaction of 700; the floor is 21,000 + 22,100 per user + the calldata of the ids",
        rows: [largest.gas],
      },
    },
    ratios: [
      {
        what: `s of processor time to publish ${largest.users.toLocaleString("en")} users, per million`,
        ...{ value: round((largest.total.cpuSeconds * 1_000_000) / largest.users) },
      },
      {
        what: "processor time of publishing, relative to a plain script that only makes and checks the files",
        ...{ value: round(largest.total.cpuSeconds / largest.plainSeconds) },
      },
      { what: "MB of memory at the most", value: largest.mostResidentMB, atMost: 500 },
    ],
  });
} finally {
  await stack.close();
  await rm(dir, { recursive: true, force: true });
}

async function writeRecords(count: number): Promise<void> {
  const keys = Array.from({ length: KEYS }, () => makeKeyRecord(randomUserID(), generateKeyPair().publicKey));
  const file = createWriteStream(records);
  for (let i = 0; i < count; i++) {
    const record = { ...keys[i % KEYS], userID: randomUserID() } as (typeof keys)[number];
    if (!file.write(`${serializeKeyRecord(record)}\n`)) await once(file, "drain");
  }
  await once(file.end(), "close");
}

/** Publishes this number of new users with the command, and measures its process. */
async function publish(users: number) {
  const plan = join(dir, `plan-${users}`);
  await writeRecords(users);
  const hardhat = "node_modules/hardhat/dist/src/cli.js";
  const args = ["keyroot", "publish", "--records", records, "--plan", plan, "--users-per-file", "700"];
  const start = performance.now();
  const child = spawn(process.execPath, [hardhat, ...args, "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  const sample = (): Sample => ({ ...sampleOf(child.pid ?? 0), wallSeconds: (performance.now() - start) / 1000 });
  let last = sample();
  const watch = setInterval(() => {
    const now = sample();
    // The process has ended, so the process uses no memory.
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

/** Runs the plain script for the most recent records. @returns seconds of processor time */
async function runPlainScript(): Promise<number> {
  const folder = join(dir, "plain");
  await mkdir(folder);
  const { stdout } = await promisify(execFile)(process.execPath, ["bench/publish/plainScript.ts", records, folder]);
  await rm(folder, { recursive: true });
  return Number(stdout);
}

/**
 * Returns the minimum gas of any contract that stores a root for each user. It consists of the gas for the transaction,
 * for new storage slots, and for calldata.
 */
function floorOf(userIDs: readonly string[]): number {
  const bytes = userIDs.flatMap((userID) => Array.from(userIDToBytes(userID)));
  return 21_000 + 22_100 * userIDs.length + bytes.reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 0);
}
