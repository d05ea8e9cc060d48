/**
 * What it costs to keep a plan and the state of an audit on disk, for a million users; and one durable write, beside what
 * it is compared with: a line that is appended to a file and synced, and SQLite's other journal modes.
 *
 * `npm run bench:storage` prints and records the figures in bench/storage.json. Times depend on the disk.
 */
import { hash, randomBytes } from "node:crypto";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AuditState } from "@keyroot/operator/audit";
import { FolderJournal, packBatch, type Plan } from "@keyroot/operator/publisher";
import { userIDFromBytes } from "keyroot/identity";

const USERS = 1_000_000;
const USERS_PER_FILE = 700;
const USER_BYTES = 36;
const FILES = Math.ceil(USERS / USERS_PER_FILE);
const WRITES = 500;
/** As many files are audited between two saves, about: an audit saves every 3 s. */
const FILES_PER_SAVE = 300;

const TARGET = { chainId: 1, genesisHash: `0x${"1".repeat(64)}`, contract: `0x${"2".repeat(40)}` };
const MODES = { wal: "FULL", delete: "EXTRA", truncate: "FULL", persist: "FULL" };

const roles: Record<string, (dir: string) => Promise<object>> = {
  writes: measureWrites,
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
  const load = loadavg()[0];
  try {
    const figures: Record<string, unknown> = {
      machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
      command: "npm run bench:storage",
      loadBefore: load,
      input: { users: USERS, files: FILES },
      unit: "ms of wall time, in brackets of CPU time; MiB of the process before and at its most",
    };
    // Each in a process of its own, for its memory.
    for (const role of Object.keys(roles)) {
      const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), role, dir]);
      figures[role] = JSON.parse(stdout);
    }
    const text = `${JSON.stringify(figures, null, 2)}\n`;
    process.stdout.write(text);
    writeFileSync(new URL("storage.json", import.meta.url), text);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** One durable write of an attempt: in the journal, as a line, and in each journal mode. */
async function measureWrites(dir: string): Promise<object> {
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
  const figures: Record<string, string> = {
    recordAttempt: await medianOf(() => journal.recordAttempt(attempt)),
    "append and fdatasync": await medianOf(async () => {
      await using file = await open(join(dir, "lines"), "a");
      await file.writeFile(`${text}\n`);
      await file.datasync();
    }),
  };
  for (const [mode, synchronous] of Object.entries(MODES)) {
    const database = new DatabaseSync(join(dir, `${mode}.sqlite`));
    database.exec(
      `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = ${mode}; PRAGMA synchronous = ${synchronous}`,
    );
    database.exec("CREATE TABLE lines (text TEXT) STRICT");
    const insert = database.prepare("INSERT INTO lines VALUES (?)");
    figures[`${mode}, ${synchronous}`] = await medianOf(() => insert.run(text));
    database.close();
  }
  return figures;
}

async function writePlan(dir: string): Promise<object> {
  const plan = makePlan();
  const before = residentMiB();
  using journal = await FolderJournal.open(join(dir, "plan"));
  const writePlan = await timed(() => journal.writePlan(plan));
  return { writePlan, ...memorySince(before) };
}

async function readPlan(dir: string): Promise<object> {
  const before = residentMiB();
  let journal: FolderJournal | undefined;
  const openJournal = await timed(async () => (journal = await FolderJournal.open(join(dir, "plan"))));
  const readPlan = await timed(() => journal?.readPlan());
  const finish = await timed(() => journal?.finish());
  journal?.[Symbol.dispose]();
  return { open: openJournal, readPlan, finish, ...memorySince(before) };
}

async function saveAudit(dir: string): Promise<object> {
  const files = Array.from({ length: FILES }, (_, i) => ({
    root: rootOf(i),
    users: randomBytes(USERS_PER_FILE * USER_BYTES),
  }));
  const before = residentMiB();
  using state = await AuditState.open(join(dir, "audit.sqlite"), TARGET);
  const saves: string[] = [];
  const save = () => {
    state.save();
  };
  for (const [i, { root, users }] of files.entries()) {
    state.recordFile(root, hash("sha256", users), users);
    if ((i + 1) % FILES_PER_SAVE === 0) saves.push(await timed(save));
  }
  const events = files.map(({ root }, i) => {
    return { root, addedCount: 700, blockNumber: i, blockHash: `0x${root}`, logIndex: 0, timestamp: 1_700_000_000 };
  });
  state.recordHistory({ number: FILES, hash: `0x${rootOf(0)}` }, events);
  const lastSave = await timed(save);
  return { [`saves of ${FILES_PER_SAVE} files`]: saves, lastSave, ...memorySince(before) };
}

async function openAudit(dir: string): Promise<object> {
  const before = residentMiB();
  let state: AuditState | undefined;
  const openState = await timed(async () => (state = await AuditState.open(join(dir, "audit.sqlite"), TARGET)));
  const readFiles = await timed(() => {
    for (let i = 0; i < FILES; i++) state?.file(rootOf(i));
  });
  state?.[Symbol.dispose]();
  return { open: openState, readFiles, ...memorySince(before) };
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

/** Wall time and CPU time in ms. */
async function timed(work: () => unknown): Promise<string> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return `${Math.round(performance.now() - start)} (${Math.round((user + system) / 1000)})`;
}

/** The median and the 95th percentile of many times. */
async function medianOf(work: () => unknown): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < WRITES; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(WRITES * share)]?.toFixed(2);
  return `median ${at(0.5)}, 95 % within ${at(0.95)}`;
}

function memorySince(before: number): object {
  return { memory: { before, most: Math.round(process.resourceUsage().maxRSS / 1024) } };
}

function residentMiB(): number {
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}
