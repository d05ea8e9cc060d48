import { hash } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { KeyrootError } from "keyroot/errors";
import { TransportError } from "../errors.ts";
import { makeFolder, syncFolder } from "./folder.ts";
import { DatabaseSync, SQLITE, sqliteCode } from "./sqlite.ts";
import { removeDrafts, withDraft } from "./writeFileAtomic.ts";

type Connection = InstanceType<typeof DatabaseSync>;
export type Row = Record<string, SQLOutputValue>;

/** One kind of saved state: how its file is recognized, and which error refuses a file that is not valid. */
export interface StateFormat {
  /** Marks the file as this kind of state (`PRAGMA application_id`): a signed 32-bit integer. */
  applicationId: number;
  /** The version of the tables (`PRAGMA user_version`). */
  version: number;
  /** The `CREATE TABLE` statements. A file must have exactly these, so it has no trigger, view or other table. */
  tables: readonly string[];
  /** The largest file that is opened, in bytes. */
  maxBytes: number;
  /** Makes the error for a file that is damaged or has another format. */
  invalid: (message: string, options?: ErrorOptions) => KeyrootError;
}

/**
 * Settings before anything is read: no other process may read or write the file, nothing in its schema may call functions,
 * and sizes of cells are checked as pages are loaded.
 */
const OPEN = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON";
/**
 * A write-ahead log takes one sync for each transaction, a rollback journal four (`bench/storage.ts`). FULL syncs the log
 * before a commit returns, so a commit outlives a power cut; with `fullfsync` also on macOS, where `fsync` alone does not
 * reach the disk. (sqlite.org/wal.html, sqlite.org/pragma.html)
 */
const WRITE = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON";
/** Maximum wait in ms for another program that has the file open, such as a copy by the `sqlite3` shell. */
const BUSY_MS = 1_000;
/** SQLite's codes for damaged files. */
const INVALID: readonly (number | undefined)[] = [SQLITE.ERROR, SQLITE.CORRUPT, SQLITE.FORMAT, SQLITE.NOTADB];

/**
 * State that survives a crash: an SQLite database in one file. While it is open, or after the process was killed, a second
 * file contains the log of the last transactions (`-wal`). A transaction is either on the disk when it returns, or has no
 * effect. The caller holds a lock (`lockFile`), so that one process at a time opens, replaces or imports the file.
 */
export class StateDatabase implements Disposable {
  readonly #connection: Connection;
  readonly #format: StateFormat;
  readonly #path: string;
  readonly #lock: Disposable | undefined;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(connection: Connection, format: StateFormat, path: string, lock?: Disposable) {
    this.#connection = connection;
    this.#format = format;
    this.#path = path;
    this.#lock = lock;
  }

  /** Opens a database in memory, which ends with the process. @param fill inserts its first rows */
  static inMemory(format: StateFormat, fill: (database: StateDatabase) => void): StateDatabase {
    const database = new StateDatabase(new DatabaseSync(":memory:"), format, ":memory:");
    database.#createTables(fill);
    return database;
  }

  /**
   * Replaces a file by a new database, completely or not at all. Only the owner can read the database (mode 0600) and the
   * folders that this creates (0700).
   * @param fill inserts its first rows
   * @throws TransportError FILE_UNWRITABLE; and what `fill` throws
   */
  static async create(path: string, format: StateFormat, fill: (database: StateDatabase) => void): Promise<void> {
    try {
      const dir = dirname(path);
      await makeFolder(dir);
      await removeDrafts(dir, (name) => name === basename(path));
      // The log of an earlier database at this path would be applied to the new one.
      for (const rest of ["-wal", "-journal"]) await rm(path + rest, { force: true });
      await withDraft(path, async (draft) => {
        await (await open(draft, "wx", 0o600)).close();
        const connection = new DatabaseSync(draft);
        try {
          // A draft needs no journal: if its transaction fails, the draft is removed.
          connection.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
          // The file shrinks when rows are deleted, such as those of a finished plan.
          connection.exec("PRAGMA auto_vacuum = FULL");
          new StateDatabase(connection, format, draft).#createTables(fill);
        } finally {
          connection.close();
        }
        await rename(draft, path);
        await syncFolder(dir);
      });
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /**
   * Opens a database and checks all of it: size, format, tables, and SQLite's own `integrity_check`.
   * @param lock is released when the database is closed; the caller still has it if this throws
   * @throws what `format.invalid` makes; TransportError FILE_UNWRITABLE
   */
  static async open(path: string, format: StateFormat, lock: Disposable): Promise<StateDatabase> {
    for (const name of [path, `${path}-wal`]) {
      const bytes = await sizeOf(name);
      if (bytes <= format.maxBytes) continue;
      throw format.invalid(`${name} has ${bytes} bytes, at most ${format.maxBytes} are read.`);
    }
    let connection: Connection | undefined;
    try {
      connection = new DatabaseSync(path);
      connection.exec(`PRAGMA busy_timeout = ${BUSY_MS}; ${OPEN}`);
      checkFormat(connection, format);
      connection.exec(WRITE);
      return new StateDatabase(connection, format, path, lock);
    } catch (error) {
      connection?.close();
      if (error instanceof KeyrootError) throw error;
      if (INVALID.includes(sqliteCode(error))) throw invalidDatabase(format, error);
      throw unwritable(path, error);
    }
  }

  /**
   * Runs statements as one transaction. An error undoes all of them.
   * @throws TransportError FILE_UNWRITABLE; and what `work` throws
   */
  transaction(work: () => void): void {
    this.#guard(() => {
      this.#connection.exec("BEGIN IMMEDIATE");
      try {
        work();
        this.#connection.exec("COMMIT");
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
  }

  /** Runs a statement that returns no rows, as a separate transaction outside of `transaction`. */
  run(sql: string, ...values: SQLInputValue[]): void {
    this.#guard(() => this.#prepare(sql).run(...values));
  }

  /** The first row of a query. */
  row(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(...values));
  }

  /** The rows of a query, one at a time. */
  *rows(sql: string, ...values: SQLInputValue[]): Generator<Row, void> {
    const rows = this.#guard(() => this.#connection.prepare(sql).iterate(...values));
    for (;;) {
      const next = this.#guard(() => rows.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  [Symbol.dispose](): void {
    this.#connection.close();
    this.#lock?.[Symbol.dispose]();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#connection.prepare(sql)));
    return statement;
  }

  #createTables(fill: (database: StateDatabase) => void): void {
    const { applicationId, version, tables } = this.#format;
    this.transaction(() => {
      this.#connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
      for (const table of tables) this.#connection.exec(table);
      fill(this);
    });
  }

  #rollBack(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // SQLite has ended the transaction already, as it does when the disk is full.
    }
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      // A number that JavaScript cannot hold, or a page that was damaged since the file was opened.
      const isInvalid = (error as NodeJS.ErrnoException).code === "ERR_OUT_OF_RANGE";
      if (isInvalid || sqliteCode(error) === SQLITE.CORRUPT) throw invalidDatabase(this.#format, error);
      if (sqliteCode(error) === undefined) throw error;
      throw unwritable(this.#path, error);
    }
  }
}

/** The kind of a file, by its first bytes. */
export async function kindOfFile(path: string): Promise<"missing" | "database" | "other"> {
  const magic = Buffer.from("SQLite format 3\0");
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return bytesRead === magic.length && buffer.equals(magic) ? "database" : "other";
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "missing";
    throw new TransportError("FILE_UNREADABLE", `Cannot read ${path}: ${(cause as Error).message}.`, { cause });
  }
}

/**
 * SHA-256 of a row's values, 64 hex digits. It shows damage that SQLite cannot see, and careless edits. It does not stop an
 * attacker, who can compute it as well.
 */
export function checksumOf(values: readonly SQLOutputValue[]): string {
  return hash("sha256", JSON.stringify(values));
}

/** @throws what `format.invalid` makes; what SQLite throws */
function checkFormat(connection: Connection, format: StateFormat): void {
  const { application_id: id } = connection.prepare("PRAGMA application_id").get() as Row;
  if (id !== format.applicationId) throw format.invalid("It is not a state of this kind.");
  const { user_version: version } = connection.prepare("PRAGMA user_version").get() as Row;
  if (version !== format.version) {
    throw format.invalid(`Its format has the version ${String(version)}, this program reads ${format.version}.`);
  }
  const tables = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
  const isExpected = tables.length === format.tables.length && tables.every(({ sql }, i) => sql === format.tables[i]);
  if (!isExpected) throw format.invalid("It has other tables than this version creates.");
  const { integrity_check: result } = connection.prepare("PRAGMA integrity_check(1)").get() as Row;
  if (result !== "ok") throw format.invalid(`It is damaged: ${String(result)}.`);
}

function invalidDatabase(format: StateFormat, cause: unknown): KeyrootError {
  return format.invalid(`It is damaged: ${(cause as Error).message}.`, { cause });
}

function unwritable(path: string, cause: unknown): KeyrootError {
  const isFromSystem = typeof (cause as NodeJS.ErrnoException).code === "string";
  if (cause instanceof KeyrootError || !isFromSystem) throw cause;
  return new TransportError("FILE_UNWRITABLE", `Cannot write ${path}: ${(cause as Error).message}.`, { cause });
}

/** A file's size in bytes, 0 if it does not exist. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw new TransportError("FILE_UNREADABLE", `Cannot read ${path}: ${(cause as Error).message}.`, { cause });
  }
}
