/**
 * Runs a scenario repeatedly, each time with a different failing system call (faultyDisk.c), and then checks the stored
 * data. Its arguments are the folder with the files that fail, the control file, and the scenario. It prints a `Trials`
 * object.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KeyrootError } from "keyroot/internal/errors";
import { makeMerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { FolderJournal } from "../../../packages/operator/src/publisher/journal/folderJournal.ts";
import type { Attempt } from "../../../packages/operator/src/publisher/journal/journal.ts";
import type { Plan } from "../../../packages/operator/src/publisher/plan/plan.ts";
import { lockFile } from "../../../packages/operator/src/disk/lock.ts";
import { StateDatabase, type StateFormat } from "../../../packages/operator/src/disk/stateDatabase.ts";
import { ArgumentError } from "../../../packages/operator/src/errors.ts";
import { sampleRecords, sampleUserID, sha256 } from "../samples.ts";

export const KINDS = ["ENOSPC", "EIO", "short", "fsync"] as const;

/** The outcome of all trials of a scenario. */
export interface Trials {
  /** Number of failed calls, by kind. */
  hits: Record<string, number>;
  /** The error codes that callers received. */
  codes: string[];
  /** Lost or incomplete data, and errors with an unexpected code. */
  findings: string[];
}

/** Works in a folder. Adds to `acknowledged` what each call that returned has stored. */
interface Scenario {
  work: (dir: string, acknowledged: number[]) => Promise<void>;
  /** Reads what is stored, without failing calls. @throws Error for an incomplete part */
  read: (dir: string) => Promise<number[]>;
}

const attemptOf = (nonce: number): Attempt => ({
  ...{ nonce, root: sha256("root"), gas: 60_000 },
  fees: { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
});
const plan: Plan = {
  ...{ chainId: 1, genesisHash: `0x${"1".repeat(64)}`, contract: `0x${"2".repeat(40)}`, owner: `0x${"3".repeat(40)}` },
  usersPerTransaction: 1,
  batches: [{ root: sha256("root"), fileBytes: 1, users: 1, userIDs: [sampleUserID(1)] }],
};
/** The number that represents the plan. Other numbers represent attempts. */
const PLAN = 0;

const FORMAT: StateFormat = {
  applicationId: 0x54455354,
  version: 1,
  tables: ["CREATE TABLE numbers (a INTEGER PRIMARY KEY, b INTEGER NOT NULL) STRICT"],
  maxBytes: 2 ** 20,
  invalid: (message, options) => new ArgumentError("STATE_INVALID", message, options),
};
const ROWS = 50;

async function openState(dir: string): Promise<StateDatabase> {
  const lock = await lockFile(join(dir, "lock"));
  if (lock === undefined) throw new Error("The folder is locked.");
  try {
    return await StateDatabase.open(join(dir, "state.sqlite"), FORMAT, lock);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

const files = [2, 3].map((users) => makeMerkleFile(sampleRecords(users)));

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  journal: {
    async work(dir, acknowledged) {
      using journal = await FolderJournal.open(dir);
      await journal.writePlan(plan);
      acknowledged.push(PLAN);
      for (const nonce of [1, 2, 3]) {
        await journal.recordAttempt(attemptOf(nonce));
        acknowledged.push(nonce);
      }
    },
    async read(dir) {
      using journal = await FolderJournal.open(dir);
      const found = await journal.readPlan();
      return [...(found === undefined ? [] : [PLAN]), ...journal.attempts().map(({ nonce }) => nonce)];
    },
  },
  state: {
    async work(dir, acknowledged) {
      await StateDatabase.create(join(dir, "state.sqlite"), FORMAT, () => undefined);
      using state = await openState(dir);
      for (const a of [1, 2, 3]) {
        state.transaction(() => {
          for (let row = 0; row < ROWS; row++) state.run("INSERT INTO numbers VALUES (?, ?)", a * ROWS + row, a);
        });
        acknowledged.push(a);
      }
    },
    async read(dir) {
      if (!existsSync(join(dir, "state.sqlite"))) return [];
      using state = await openState(dir);
      const rows = Array.from(state.rows("SELECT b, count(*) AS c FROM numbers GROUP BY b ORDER BY b"));
      if (rows.some(({ c }) => c !== ROWS)) throw new Error("A transaction is incomplete.");
      return rows.map(({ b }) => Number(b));
    },
  },
  store: {
    async work(dir, acknowledged) {
      const store = new FolderStore(dir);
      for (const [i, file] of files.entries()) {
        await store.put(file);
        acknowledged.push(i);
      }
    },
    read(dir) {
      const left = readdirSync(dir).filter((name) => name.startsWith("."));
      if (left.length > 0) throw new Error(`Drafts are left: ${left.join(", ")}.`);
      const stored = [...files.entries()].filter(([, file]) => {
        const path = join(dir, `${file.tree.root}.json`);
        if (!existsSync(path)) return false;
        if (readFileSync(path, "utf8") !== [...serializeMerkleFile(file)].join(""))
          throw new Error("A file is incomplete.");
        return true;
      });
      return Promise.resolve(stored.map(([i]) => i));
    },
  },
};

async function runTrials(folder: string, control: string, scenario: Scenario): Promise<Trials> {
  const trials: Trials = { hits: {}, codes: [], findings: [] };
  let trial = 0;
  for (const kind of KINDS) {
    for (let number = 1; ; number++) {
      const dir = join(folder, String(++trial));
      mkdirSync(dir, { mode: 0o700 });
      rmSync(`${control}.hit`, { force: true });
      writeFileSync(control, `${trial} ${kind} ${number}\n`);
      const acknowledged: number[] = [];
      const error = await scenario.work(dir, acknowledged).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      writeFileSync(control, `${trial} none 0\n`);
      if (!existsSync(`${control}.hit`)) break;
      trials.hits[kind] = number;
      const finding = await findingOf(dir, scenario, acknowledged, error);
      if (error instanceof KeyrootError && !trials.codes.includes(error.code)) trials.codes.push(error.code);
      if (kind === "short" && error !== undefined) trials.findings.push(`short ${number}: ${error.message}`);
      if (finding !== undefined) trials.findings.push(`${kind} ${number}: ${finding}`);
    }
  }
  return trials;
}

async function findingOf(
  dir: string,
  { read }: Scenario,
  acknowledged: readonly number[],
  error: Error | undefined,
): Promise<string | undefined> {
  if (error !== undefined && !(error instanceof KeyrootError)) return `an error without a code: ${error.message}`;
  try {
    const stored = await read(dir);
    const lost = acknowledged.filter((one) => !stored.includes(one));
    if (lost.length > 0) return `lost ${lost.join()}, which was acknowledged`;
    // The call that failed may have stored its part completely.
    if (stored.length > acknowledged.length + 1) return `stored ${stored.join()}, acknowledged ${acknowledged.join()}`;
    return undefined;
  } catch (cause) {
    return `cannot be read any more: ${(cause as Error).message}`;
  }
}

if (import.meta.main) {
  const [folder = "", control = "", name = ""] = process.argv.slice(2);
  const scenario = SCENARIOS[name];
  if (scenario === undefined) throw new Error(`There is no scenario "${name}".`);
  process.stdout.write(JSON.stringify(await runTrials(folder, control, scenario)));
}
