/**
 * What it costs to keep a plan and the state of an audit on disk, for a million users; and one durable write, beside what
 * it is compared with: a line that is appended to a file and synced, and SQLite's other journal modes.
 * Times depend on the disk.
 */
import { hash, randomBytes } from "node:crypto";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AuditState } from "@keyroot/operator/audit";
import { FolderJournal, packBatch, type Plan } from "@keyroot/operator/publisher";
import { userIDFromBytes } from "keyroot/identity";
import { report, round, type Row, SMALL } from "./runner/report.ts";

const USERS = SMALL ? 1400 : 1_000_000;
const USERS_PER_FILE = 700;
const USER_BYTES = 36;
const FILES = Math.ceil(USERS / USERS_PER_FILE);
const WRITES = SMALL ? 5 : 500;
/** As many files are audited between two saves, about: an audit saves every 3 s. */
const FILES_PER_SAVE = 300;

const TARGET = { chainId: 1, genesisHash: `0x${"1".repeat(64)}`, contract: `0x${"2".repeat(40)}` };
const MODES = { wal: "FULL", delete: "EXTRA", truncate: "FULL", persist: "FULL" };

const roles: Record<string, (dir: string) => Promise<Row[]>> = {
  "one durable write": measureWrites,
  "writing a plan": writePlan,
  "reading a plan": readPlan,
  "saving an audit": saveAudit,
  "opening an audit": openAudit,
};
const [, , role, folder] = process.argv;
if (role !== undefined && folder !== undefined) {
  process.stdout.write(JSON.stringify(await roles[role]?.(folder)));
} else {
  const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
  try {
    // Each in a process of its own, for its memory.
    const all: Row[][] = [];
    for (const name of Object.keys(roles)) all.push(await inOwnProcess(name, dir));
    const [writes = [], ...steps] = all;
    const msOf = (what: string) => Number(writes.find((row) => row["what"] === what)?.["medianMs"]);
    report({
      figures: {
        writes: {
          what: `ms of one durable write, of ${WRITES}; below the journal what it is compared with`,
          rows: writes,
        },
        steps: {
          what: `a plan and an audit's state of ${USERS.toLocaleString("en")} users in ${FILES} files: ms; MiB of the process before and at the most`,
          rows: steps.flat(),
        },
      },
      ratios: [
        {
          what: "recording an attempt in the journal, relative to appending a line to a file and syncing it",
          value: round(msOf("recordAttempt") / msOf("append and fdatasync")),
        },
      ],
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function inOwnProcess(name: string, dir: string): Promise<Row[]> {
  const args = [fileURLToPath(import.meta.url), name, dir, ...(SMALL ? ["--small"] : [])];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Row[];
}

/** One durable write of an attempt: in the journal, as a line, and in each journal mode. */
async function measureWrites(dir: string): Promise<Row[]> {
  const attempt = {
    nonce: 7,
    root: "a".repeat(64),
    gas: 16_000_000,
    fees: { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n },
  };
  const text = JSON.stringify({
    ...attempt,
    fees: { maxFeePerGas: "10000000000", maxPriorityFeePerGas: "1000000000" },
  });
  using journal = await FolderJournal.open(join(dir, "attempts"));
  const rows = [
    await timesOf("recordAttempt", () => journal.recordAttempt(attempt)),
    await timesOf("append and fdatasync", async () => {
      await using file = await open(join(dir, "lines"), "a");
      await file.writeFile(`${text}\n`);
      await file.datasync();
    }),
  ];
  for (const [mode, synchronous] of Object.entries(MODES)) {
    const database = new DatabaseSync(join(dir, `${mode}.sqlite`));
    database.exec(
      `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = ${mode}; PRAGMA synchronous = ${synchronous}`,
    );
    database.exec("CREATE TABLE lines (text TEXT) STRICT");
    const insert = database.prepare("INSERT INTO lines VALUES (?)");
    rows.push(await timesOf(`SQLite: ${mode}, ${synchronous}`, () => insert.run(text)));
    database.close();
  }
  return rows;
}

async function writePlan(dir: string): Promise<Row[]> {
  const plan = makePlan();
  const before = residentMiB();
  using journal = await FolderJournal.open(join(dir, "plan"));
  return [await timed("writing a plan", before, () => journal.writePlan(plan))];
}

async function readPlan(dir: string): Promise<Row[]> {
  const before = residentMiB();
  let journal: FolderJournal | undefined;
  const rows = [
    await timed("opening a plan", before, async () => (journal = await FolderJournal.open(join(dir, "plan")))),
    await timed("reading a plan", before, () => journal?.readPlan()),
    await timed("finishing a plan", before, () => journal?.finish()),
  ];
  journal?.[Symbol.dispose]();
  return rows;
}

async function saveAudit(dir: string): Promise<Row[]> {
  const files = Array.from({ length: FILES }, (_, i) => ({
    root: rootOf(i),
    users: randomBytes(USERS_PER_FILE * USER_BYTES),
  }));
  const before = residentMiB();
  using state = await AuditState.open(join(dir, "audit.sqlite"), TARGET);
  const rows: Row[] = [];
  const save = () => {
    state.save();
  };
  for (const [i, { root, users }] of files.entries()) {
    state.recordFile(root, hash("sha256", users), users);
    if ((i + 1) % FILES_PER_SAVE === 0) rows.push(await timed(`saving ${FILES_PER_SAVE} files`, before, save));
  }
  const events = files.map(({ root }, i) => {
    return { root, addedCount: 700, blockNumber: i, blockHash: `0x${root}`, logIndex: 0, timestamp: 1_700_000_000 };
  });
  state.recordHistory({ number: FILES, hash: `0x${rootOf(0)}` }, events);
  return [...rows, await timed("saving the rest and the events", before, save)];
}

async function openAudit(dir: string): Promise<Row[]> {
  const before = residentMiB();
  let state: AuditState | undefined;
  const open = async () => (state = await AuditState.open(join(dir, "audit.sqlite"), TARGET));
  const readFiles = () => {
    for (let i = 0; i < FILES; i++) state?.file(rootOf(i));
  };
  const rows = [
    await timed("opening an audit's state", before, open),
    await timed("reading its files", before, readFiles),
  ];
  state?.[Symbol.dispose]();
  return rows;
}

function makePlan(): Plan {
  const userIDs = Array.from({ length: USERS }, () => userIDFromBytes(randomBytes(20))).sort();
  const batches = Array.from({ length: FILES }, (_, i) => {
    return packBatch(rootOf(i), 560_000, userIDs.slice(i * USERS_PER_FILE, (i + 1) * USERS_PER_FILE));
  });
  return { ...TARGET, owner: `0x${"3".repeat(40)}`, usersPerTransaction: USERS_PER_FILE, batches };
}

function rootOf(i: number): string {
  return hash("sha256", String(i));
}

/** Wall time and processor time in ms, and the memory of the process in MiB. */
async function timed(what: string, mebibytesBefore: number, work: () => unknown): Promise<Row> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  const [ms, cpuMs] = [Math.round(performance.now() - start), Math.round((user + system) / 1000)];
  return { what, ms, cpuMs, mebibytesBefore, mebibytes: Math.round(process.resourceUsage().maxRSS / 1024) };
}

/** The median and the 95th percentile of many times. */
async function timesOf(what: string, work: () => unknown): Promise<Row> {
  const times: number[] = [];
  for (let i = 0; i < WRITES; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => round(times[Math.floor(WRITES * share)] ?? NaN);
  return { what, medianMs: at(0.5), p95Ms: at(0.95) };
}

function residentMiB(): number {
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}
