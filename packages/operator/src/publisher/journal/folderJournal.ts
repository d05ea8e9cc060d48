import { join } from "node:path";
import { ArgumentError, VerificationError } from "keyroot/errors";
import { lockFolder } from "../../disk/lock.ts";
import { checkPrivateFile, checkPrivateFolder } from "../../disk/permissions.ts";
import { checksumOf, kindOfFile, StateDatabase, type StateFormat } from "../../disk/stateDatabase.ts";
import { parsePlan, type Plan, serializePlan } from "../plan/plan.ts";
import { type Attempt, type Journal, parseAttempt, serializeAttempt } from "./journal.ts";
import { OLD_FILES, type OldJournal, readOldJournal, removeOldJournal } from "./oldJournal.ts";

const FILE = "journal.sqlite";

/** One row per line of `serializePlan`, one per attempt. A line of a million users, the most of one file, has 35 MB. */
const TABLES = [
  `CREATE TABLE plan (
  line INTEGER PRIMARY KEY,
  text TEXT NOT NULL CHECK (octet_length(text) <= 67108864),
  checksum TEXT NOT NULL CHECK (octet_length(checksum) = 64)
) STRICT`,
  `CREATE TABLE attempts (
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL CHECK (octet_length(text) <= 1024),
  checksum TEXT NOT NULL CHECK (octet_length(checksum) = 64)
) STRICT`,
];

/**
 * Keeps a plan in a folder, for one publisher at a time. It lies in an SQLite database: a plan and the deletion of the old
 * one's attempts are one transaction, and an attempt is on the disk when `recordAttempt` returns.
 */
export class FolderJournal implements Journal, Disposable {
  readonly #database: StateDatabase;
  readonly #format: StateFormat;
  readonly #attempts: Attempt[];

  private constructor(database: StateDatabase, format: StateFormat) {
    this.#database = database;
    this.#format = format;
    this.#attempts = Array.from(this.#texts("attempts"), parseAttempt);
  }

  /**
   * Opens a folder and locks it. A plan that version 0.1.0 left there is imported.
   * @param dir created if it does not exist
   * @throws ArgumentError PUBLISHER_RUNNING, FILE_PERMISSIONS; TransportError FILE_UNWRITABLE, FILE_UNREADABLE; VerificationError
   * PLAN_INVALID
   */
  static async open(dir: string): Promise<FolderJournal> {
    await checkPrivateFolder(dir);
    const lock = await lockFolder(dir);
    if (lock === undefined) {
      const message = `Another publisher works on the plan in ${dir}: wait until it ends, or stop it.`;
      throw new ArgumentError("PUBLISHER_RUNNING", message, { actual: dir });
    }
    try {
      // A folder that others can enter may have files that they can write, such as those of a copy.
      for (const name of [FILE, `${FILE}-wal`, ...OLD_FILES]) await checkPrivateFile(join(dir, name));
      const old = await readOldJournal(dir);
      const path = join(dir, FILE);
      const format = formatOf(dir);
      if ((await kindOfFile(path)) === "missing") await StateDatabase.create(path, format, () => undefined);
      const database = await StateDatabase.open(path, format, lock);
      try {
        const journal = new FolderJournal(database, format);
        if (old !== undefined) await journal.#import(old, dir);
        return journal;
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
    return Promise.resolve(this.#hasPlan() ? parsePlan(this.#texts("plan")) : undefined);
  }

  async writePlan(plan: Plan): Promise<void> {
    this.#replace(plan, []);
    return Promise.resolve();
  }

  async recordAttempt(attempt: Attempt): Promise<void> {
    this.#insertAttempt(attempt);
    this.#attempts.push(attempt);
    return Promise.resolve();
  }

  attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  async finish(): Promise<void> {
    this.#replace(undefined, []);
    return Promise.resolve();
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }

  #hasPlan(): boolean {
    return this.#database.row("SELECT line FROM plan") !== undefined;
  }

  *#texts(table: "plan" | "attempts"): Generator<string, void> {
    for (const { text, checksum } of this.#database.rows(`SELECT text, checksum FROM ${table} ORDER BY rowid`)) {
      if (text === undefined || checksumOf([text]) !== checksum)
        throw this.#format.invalid(`A row of its table ${table} was changed.`);
      yield String(text);
    }
  }

  #replace(plan: Plan | undefined, attempts: readonly Attempt[]): void {
    this.#database.transaction(() => {
      this.#database.run("DELETE FROM plan");
      this.#database.run("DELETE FROM attempts");
      for (const line of plan === undefined ? [] : serializePlan(plan)) {
        const text = line.slice(0, -1);
        this.#database.run("INSERT INTO plan (text, checksum) VALUES (?, ?)", text, checksumOf([text]));
      }
      for (const attempt of attempts) this.#insertAttempt(attempt);
    });
    this.#attempts.splice(0, Infinity, ...attempts);
  }

  #insertAttempt(attempt: Attempt): void {
    const text = serializeAttempt(attempt);
    this.#database.run("INSERT INTO attempts (text, checksum) VALUES (?, ?)", text, checksumOf([text]));
  }

  /** Takes over what 0.1.0 left, and removes it once that is on the disk. */
  async #import({ plan, attempts }: OldJournal, dir: string): Promise<void> {
    const isEmpty = !this.#hasPlan() && this.#attempts.length === 0;
    if (isEmpty) this.#replace(plan, attempts);
    else if (!this.#includes(plan, attempts)) {
      const message =
        `${dir} holds two unfinished plans: one in ${FILE}, and another one in plan.jsonl, from version 0.1.0. Move ` +
        "plan.jsonl and sent.jsonl into a folder of their own, publish here, and then there with --plan FOLDER.";
      throw new VerificationError("file", "PLAN_INVALID", message, { actual: dir });
    }
    await removeOldJournal(dir);
  }

  /** Whether an import that was interrupted had come this far: files are removed one after the other. */
  #includes(plan: Plan | undefined, attempts: readonly Attempt[]): boolean {
    if (attempts.some((attempt, i) => serializeAttempt(attempt) !== serializeAttemptOf(this.#attempts[i])))
      return false;
    if (plan === undefined) return true;
    const lines = this.#texts("plan");
    for (const line of serializePlan(plan)) if (lines.next().value !== line.slice(0, -1)) return false;
    return lines.next().done === true;
  }
}

function serializeAttemptOf(attempt: Attempt | undefined): string | undefined {
  return attempt && serializeAttempt(attempt);
}

function formatOf(dir: string): StateFormat {
  return {
    applicationId: 0x4b524a4e, // "KRJN"
    version: 1,
    tables: TABLES,
    // The plan of 100 million users.
    maxBytes: 2 ** 32,
    invalid: (message, options) => {
      const text =
        `The plan in ${dir} cannot be used. ${message} If no transaction of the registry's owner is pending, delete ` +
        "the folder and publish again.";
      return new VerificationError("file", "PLAN_INVALID", text, { actual: dir, ...options });
    },
  };
}
