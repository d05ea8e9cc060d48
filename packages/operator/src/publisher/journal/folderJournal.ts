import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError, VerificationError } from "../../errors.ts";
import { lockFolder } from "../../disk/lock.ts";
import { checkPrivateFile, checkPrivateFolder } from "../../disk/permissions.ts";
import { kindOfFile, StateDatabase, type StateFormat } from "../../disk/stateDatabase.ts";
import type { Plan } from "../plan/plan.ts";
import { parsePlan, serializePlan } from "../plan/planFormat.ts";
import { type Attempt, countKeptAttempts, type Journal, parseAttempt, serializeAttempt } from "./journal.ts";

const FILE = "journal.sqlite";

/**
 * The tables of the journal. A plan has one row for each line of `serializePlan`. The longest possible line, for a
 * batch of a million users, takes 35 MB.
 */
const TABLES = [
  `CREATE TABLE plan (
  line INTEGER PRIMARY KEY,
  text TEXT NOT NULL CHECK (octet_length(text) <= 67108864)
) STRICT`,
  `CREATE TABLE attempts (
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL CHECK (octet_length(text) <= 1024)
) STRICT`,
];

/**
 * A journal in an SQLite database in a folder, for one publisher at a time. It replaces a plan in a single transaction.
 * When `recordAttempt` returns, the attempt is on disk.
 */
export class FolderJournal implements Journal, Disposable {
  readonly #database: StateDatabase;
  readonly #attempts: Attempt[];

  private constructor(database: StateDatabase) {
    this.#database = database;
    this.#attempts = Array.from(this.#texts("attempts"), parseAttempt);
  }

  /**
   * Opens and locks a journal's folder. An unfinished plan of version 0.1.0 is rejected, because its transactions may
   * still be pending.
   * @param dir the folder, which is created if it is missing
   * @throws ArgumentError PUBLISHER_RUNNING, FILE_PERMISSIONS; TransportError FILE_UNWRITABLE, FILE_UNREADABLE;
   *   VerificationError PLAN_INVALID
   */
  static async open(dir: string): Promise<FolderJournal> {
    await checkPrivateFolder(dir);
    const lock = await lockFolder(dir);
    if (lock === undefined) {
      const message = `Another publisher uses the plan in ${dir}. Wait until it ends, or stop it.`;
      throw new ArgumentError("PUBLISHER_RUNNING", message, { actual: dir });
    }
    try {
      // Check the files, because other accounts that can enter the folder may be able to write to the files.
      for (const name of [FILE, `${FILE}-wal`]) await checkPrivateFile(join(dir, name));
      await refuseOldPlan(dir);
      const path = join(dir, FILE);
      const format = formatOf(dir);
      if ((await kindOfFile(path)) === "missing") await StateDatabase.create(path, format, () => undefined);
      const database = await StateDatabase.open(path, format, lock);
      try {
        return new FolderJournal(database);
      } catch (error) {
        database[Symbol.dispose]();
        throw error;
      }
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }

  async readPlan(): Promise<Plan | undefined> {
    const hasPlan = this.#database.row("SELECT line FROM plan") !== undefined;
    return Promise.resolve(hasPlan ? parsePlan(this.#texts("plan")) : undefined);
  }

  async writePlan(plan: Plan): Promise<void> {
    this.#replace(plan);
    return Promise.resolve();
  }

  async recordAttempt(attempt: Attempt): Promise<void> {
    const text = serializeAttempt(attempt);
    this.#database.run("INSERT INTO attempts (text) VALUES (?)", text);
    this.#attempts.push(attempt);
    return Promise.resolve();
  }

  attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  async finish(): Promise<void> {
    this.#replace(undefined);
    this.#attempts.splice(0, this.#attempts.length - countKeptAttempts(this.#attempts));
    return Promise.resolve();
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }

  *#texts(table: "plan" | "attempts"): Generator<string, void> {
    for (const { text } of this.#database.rows(`SELECT text FROM ${table} ORDER BY rowid`)) yield String(text);
  }

  #replace(plan: Plan | undefined): void {
    this.#database.transaction(() => {
      this.#database.run("DELETE FROM plan");
      const oldAttempts = "DELETE FROM attempts WHERE number <= (SELECT max(number) FROM attempts) - ?";
      if (plan === undefined) this.#database.run(oldAttempts, countKeptAttempts(this.#attempts));
      for (const line of plan === undefined ? [] : serializePlan({ ...plan, plannedAt: Date.now() })) {
        const text = line.slice(0, -1);
        this.#database.run("INSERT INTO plan (text) VALUES (?)", text);
      }
    });
  }
}

/** The files in which version 0.1.0 stored a plan. */
const OLD_FILES = ["plan.jsonl", "sent.jsonl"];

/** Rejects a folder with an unfinished plan of version 0.1.0. @throws VerificationError PLAN_INVALID */
async function refuseOldPlan(dir: string): Promise<void> {
  const found = (await readdir(dir)).filter((name) => OLD_FILES.includes(name));
  if (found.length === 0) return;
  const message =
    `${dir} has an unfinished plan of version 0.1.0 (${found.join(", ")}). This version cannot read it. Finish it with version ` +
    "0.1.0. If the registry's owner has no pending transaction, you can instead delete these files and publish again. Users " +
    "with a root are skipped.";
  throw new VerificationError("file", "PLAN_INVALID", message, { actual: dir });
}

function formatOf(dir: string): StateFormat {
  return {
    applicationId: 0x4b524a4e, // "KRJN"
    version: 2,
    tables: TABLES,
    // A plan with 100 million users fits in this size.
    maxBytes: 2 ** 32,
    invalid: (message, options) => {
      const text =
        `The plan in ${dir} cannot be used. ${message} If no transaction of the registry's owner is pending, delete ` +
        "the folder and publish again.";
      return new VerificationError("file", "PLAN_INVALID", text, { actual: dir, ...options });
    },
  };
}
