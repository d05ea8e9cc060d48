import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { KeyrootError } from "keyroot/internal/errors";
import { cannotWrite, readIfExists } from "./fileErrors.ts";
import { makeFolder, syncFolder } from "./folder.ts";
import { DatabaseSync, SQLITE, sqliteCode } from "./sqlite.ts";
import { removeDrafts, withDraft } from "./writeFileAtomic.ts";

type Connection = InstanceType<typeof DatabaseSync>;
export type Row = Record<string, SQLOutputValue>;

/** The format of one kind of saved state. */
export interface StateFormat {
  /** A signed 32-bit integer that identifies files with this kind of state (`PRAGMA application_id`). */
  applicationId: number;
  /** The version of the tables (`PRAGMA user_version`). */
  version: number;
  /** The `CREATE TABLE` statements. A file must have exactly these tables, and no trigger or view. */
  tables: readonly string[];
  /** The maximum file size in bytes. Larger files are not opened. */
  maxBytes: number;
  /** Creates the error for a damaged file or a file with a different format. */
  invalid: (message: string, options?: ErrorOptions) => KeyrootError;
}

/**
 * The settings before the first read. No other process can then read or write the file, the schema cannot call unsafe
 * functions, and SQLite checks the sizes of cells when it loads pages.
 */
const OPEN = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON";
/**
 * The settings for writing. A write-ahead log needs one sync per transaction, whereas a rollback journal needs four.
 * With FULL, SQLite syncs the log before a commit returns, so the commit survives a power failure. On macOS, this also
 * requires `fullfsync`, because `fsync` alone does not reach the disk (sqlite.org/wal.html, sqlite.org/pragma.html).
 */
const WRITE = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON";
/** The maximum time in ms to wait for another program that uses the file, such as the `sqlite3` shell. */
const BUSY_MS = 1_000;
/** The SQLite error codes that mean a damaged file. */
const INVALID: readonly (number | undefined)[] = [SQLITE.ERROR, SQLITE.CORRUPT, SQLITE.FORMAT, SQLITE.NOTADB];

/**
 * A state that survives crashes, in an SQLite database of one file. A second file, `<path>-wal`, contains the last
 * transactions while the database is open. It remains if the process is killed.
 *
 * When `transaction` returns, its changes are on disk. A failed transaction changes nothing. The caller must hold a
 * lock (`lockFile`), so that only one process opens or replaces the file.
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

  /**
   * Creates a database in memory.
   * @param fill inserts the first rows
   */
  static inMemory(format: StateFormat, fill: (database: StateDatabase) => void): StateDatabase {
    const database = new StateDatabase(new DatabaseSync(":memory:"), format, ":memory:");
    database.#createTables(fill);
    return database;
  }

  /**
   * Creates a database in a temporary file, which is deleted when the database is closed. SQLite puts the file in the
   * folder SQLITE_TMPDIR, TMPDIR or /var/tmp (sqlite.org/tempfiles.html).
   */
  static temporary(format: StateFormat): StateDatabase {
    const database = new StateDatabase(new DatabaseSync(""), format, "a temporary file");
    database.#createTables(() => undefined);
    return database;
  }

  /**
   * Creates a database that replaces the file at its path, if there is one. If the new database cannot be written, for
   * example because the disk is full, the old file stays. Only the owner can access the database (mode 0600) and the
   * folders that are created for it (mode 0700).
   * @param fill inserts the first rows
   * @throws TransportError FILE_UNWRITABLE; and the errors of `fill`
   */
  static async create(path: string, format: StateFormat, fill: (database: StateDatabase) => void): Promise<void> {
    try {
      const dir = dirname(path);
      await makeFolder(dir);
      await removeDrafts(dir, (name) => name === basename(path));
      await withDraft(path, async (draft) => {
        await (await open(draft, "wx", 0o600)).close();
        const connection = new DatabaseSync(draft);
        try {
          // A draft needs no journal on disk. If the transaction fails, the draft is deleted.
          connection.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
          // Shrink the file when rows are deleted, for example when a plan is finished.
          connection.exec("PRAGMA auto_vacuum = FULL");
          new StateDatabase(connection, format, draft).#createTables(fill);
        } finally {
          connection.close();
        }
        // Delete the log of an earlier database at this path, because SQLite would apply it to the new one.
        for (const rest of ["-wal", "-journal"]) await rm(path + rest, { force: true });
        await rename(draft, path);
        await syncFolder(dir);
      });
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /**
   * Opens a database, after checking its size, format and tables, and running SQLite's `integrity_check`.
   * @param lock the lock of the file, which is released when the database is closed. If this function throws, the
   *   caller must release the lock
   * @throws the error that `format.invalid` makes; TransportError FILE_UNWRITABLE
   */
  static async open(path: string, format: StateFormat, lock: Disposable): Promise<StateDatabase> {
    for (const name of [path, `${path}-wal`]) {
      const bytes = await sizeOf(name);
      if (bytes <= format.maxBytes) continue;
      throw format.invalid(`${name} has ${bytes} bytes. The maximum is ${format.maxBytes}.`);
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
      if (INVALID.includes(sqliteCode(error))) {
        const { message } = error as Error;
        throw (await hasApplicationID(path, format)) ? damaged(format, message, error) : format.invalid(message);
      }
      throw unwritable(path, error);
    }
  }

  /**
   * Runs statements as one transaction. An error undoes all statements.
   * @throws TransportError FILE_UNWRITABLE; and the errors of `work`
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

  /** Runs a statement that returns no rows. Outside `transaction`, the statement is a separate transaction. */
  run(sql: string, ...values: SQLInputValue[]): void {
    this.#guard(() => this.#prepare(sql).run(...values));
  }

  /** Returns the first row of a query, or undefined. */
  row(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(...values));
  }

  /** Returns the rows of a query, one at a time. */
  *rows(sql: string, ...values: SQLInputValue[]): Generator<Row, void> {
    const rows = this.#guard(() => this.#connection.prepare(sql).iterate(...values));
    for (;;) {
      const next = this.#guard(() => rows.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  /** Closes the database, and keeps the lock. */
  close(): void {
    this.#connection.close();
  }

  /** Closes the database, and releases the lock. */
  [Symbol.dispose](): void {
    this.close();
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
      // SQLite has already ended the transaction, for example because the disk is full.
    }
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      // The database is invalid if a number is too large for JavaScript, or if a page was damaged after the file was
      // opened.
      const isInvalid = (error as NodeJS.ErrnoException).code === "ERR_OUT_OF_RANGE";
      if (isInvalid || sqliteCode(error) === SQLITE.CORRUPT)
        throw damaged(this.#format, (error as Error).message, error);
      if (sqliteCode(error) === undefined) throw error;
      throw unwritable(this.#path, error);
    }
  }
}

/** Determines the kind of a file from its first bytes. */
export async function kindOfFile(path: string): Promise<"missing" | "database" | "other"> {
  const read = async () => {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return bytesRead === MAGIC.length && buffer.equals(MAGIC) ? "database" : "other";
  };
  return (await readIfExists(path, read())) ?? "missing";
}

/** The first bytes of an SQLite database. */
const MAGIC = Buffer.from("SQLite format 3\0");

/**
 * Checks the kind, version and tables of a database.
 * @throws the error that `format.invalid` makes, and errors of SQLite
 */
function checkFormat(connection: Connection, format: StateFormat): void {
  const { application_id: id } = connection.prepare("PRAGMA application_id").get() as Row;
  if (id !== format.applicationId) throw format.invalid("It is not a state of this kind.");
  const { user_version: version } = connection.prepare("PRAGMA user_version").get() as Row;
  if (version !== format.version) {
    throw format.invalid(
      `Its format has version ${String(version)}, but this program reads version ${format.version}.`,
    );
  }
  const tables = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
  const isExpected = tables.length === format.tables.length && tables.every(({ sql }, i) => sql === format.tables[i]);
  if (!isExpected) throw format.invalid("It has other tables than the tables of this version.");
  const { integrity_check: result } = connection.prepare("PRAGMA integrity_check(1)").get() as Row;
  if (result !== "ok") throw damaged(format, String(result));
}

/** Reads the id from the file itself (sqlite.org/fileformat.html), because SQLite may not open a damaged file. */
async function hasApplicationID(path: string, { applicationId }: StateFormat): Promise<boolean> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 68);
  return bytesRead === 4 && buffer.readInt32BE() === applicationId;
}

const damages = new WeakSet<object>();

/** Returns true for an error about a database of the expected kind that SQLite found damaged. */
export function isDamage(error: unknown): boolean {
  return typeof error === "object" && error !== null && damages.has(error);
}

function damaged(format: StateFormat, description: string, cause?: unknown): KeyrootError {
  const error = format.invalid(`It is damaged: ${description}.`, { cause });
  damages.add(error);
  return error;
}

function unwritable(path: string, cause: unknown): KeyrootError {
  const isFromSystem = typeof (cause as NodeJS.ErrnoException).code === "string";
  if (cause instanceof KeyrootError || !isFromSystem) throw cause;
  return cannotWrite(path, cause);
}

/** Returns the size of a file in bytes, or 0 if the file does not exist. */
async function sizeOf(path: string): Promise<number> {
  return (await readIfExists(path, stat(path)))?.size ?? 0;
}
