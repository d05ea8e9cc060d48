import { hash } from "node:crypto";
import { LOWERCASE_HASH } from "keyroot/ethereum";
import { MERKLE_ROOT } from "keyroot/merkle";
import { checksumOf, StateDatabase } from "../disk/stateDatabase.ts";
import { USER_BYTES } from "./auditFile.ts";
import type { BlockCursor } from "./checkBlock.ts";
import type { DatedRootLog, SavedHistory } from "./history.ts";
import {
  type AuditTarget,
  checkedRow,
  checkTarget,
  invalidState,
  normalizeTarget,
  openStateFile,
  type OpenStateOptions,
  stateFormat,
  stateShape,
} from "./openStateFile.ts";

/** The recorded file of a root. */
export interface RecordedFile {
  /** SHA-256 of the file's bytes, 64 hex digits. */
  sha256: string;
  /** Its users, `USER_BYTES` each. */
  users: Uint8Array;
}

const CHECKSUM = "checksum TEXT NOT NULL CHECK (octet_length(checksum) = 64)";

/** The users of a file have a separate table, so that a new run does not write them again. */
const FORMAT = stateFormat(
  0x4b524155, // "KRAU"
  [
    `CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chain_id INTEGER NOT NULL,
  genesis_hash TEXT NOT NULL CHECK (octet_length(genesis_hash) = 66),
  contract TEXT NOT NULL CHECK (octet_length(contract) = 42),
  cursor_number INTEGER,
  cursor_hash TEXT CHECK (octet_length(cursor_hash) = 66),
  cursor_timestamp INTEGER,
  event_count INTEGER NOT NULL,
  file_count INTEGER NOT NULL,
  ${CHECKSUM}
) STRICT`,
    `CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  root TEXT NOT NULL CHECK (octet_length(root) = 64),
  added_count INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  block_hash TEXT NOT NULL CHECK (octet_length(block_hash) = 66),
  log_index INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  ${CHECKSUM}
) STRICT`,
    `CREATE TABLE files (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  sha256 TEXT NOT NULL CHECK (octet_length(sha256) = 64),
  users_sha256 TEXT NOT NULL CHECK (octet_length(users_sha256) = 64),
  ${CHECKSUM}
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE users (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  users BLOB NOT NULL CHECK (octet_length(users) <= 67108864)
) STRICT`,
  ],
  // Enough for 100 million users.
  2 ** 32,
);

/**
 * The state of an audit between runs: the events up to a block and, for each valid file, its SHA-256 and its users. A run
 * reads every file, but audits only those whose bytes changed. The state is an SQLite database (`StateDatabase`). `save` writes all changes as one transaction, so it is complete whenever a run ends.
 *
 * Each row has a checksum, and the number of rows is recorded. They show damage and careless edits. Someone who
 * can write the file can write valid checksums as well: keep it where no one else can write, or use `fresh`.
 */
export class AuditState implements SavedHistory, Disposable {
  readonly #database: StateDatabase;
  readonly #target: AuditTarget;
  readonly #pending = new Map<string, RecordedFile>();
  #hasNewEvents = false;
  cursor: BlockCursor | undefined;
  events: readonly DatedRootLog[] = [];

  private constructor(database: StateDatabase, target: AuditTarget) {
    this.#database = database;
    this.#target = target;
    this.#load();
  }

  /**
   * Opens a state and checks all of it. Creates it if there is none.
   * @param path its file; `.lock` and, while it is open, `-wal` are files with the same name before their ending
   * @throws ArgumentError STATE_LOCKED, STATE_INVALID; TransportError FILE_UNREADABLE, FILE_UNWRITABLE
   */
  static async open(path: string, target: AuditTarget, options: OpenStateOptions = {}): Promise<AuditState> {
    const about = normalizeTarget(target);
    const kind = {
      format: FORMAT,
      fill: (database: StateDatabase) => {
        insertState(database, about, EMPTY);
      },
      load: (database: StateDatabase) => new AuditState(database, about),
    };
    return openStateFile(path, kind, options);
  }

  /** A state that ends with the process, for any target. */
  static inMemory(): AuditState {
    const target = { chainId: 0, genesisHash: `0x${"0".repeat(64)}`, contract: `0x${"0".repeat(40)}` };
    const fill = (database: StateDatabase) => {
      insertState(database, target, EMPTY);
    };
    return new AuditState(StateDatabase.inMemory(FORMAT, fill), target);
  }

  /** The recorded file of a root, if there is one. */
  file(root: string): RecordedFile | undefined {
    const pending = this.#pending.get(root);
    if (pending !== undefined) return pending;
    const row = this.#database.row("SELECT sha256, users FROM files JOIN users USING (root) WHERE root = ?", root);
    if (row === undefined) return undefined;
    return { sha256: String(row["sha256"]), users: row["users"] as Uint8Array };
  }

  /** Records a file that was audited and is valid. @param users `USER_BYTES` each */
  recordFile(root: string, sha256: string, users: Uint8Array): void {
    this.#pending.set(root, { sha256, users });
  }

  /** Replaces the recorded events by all events up to a block. */
  recordHistory(cursor: BlockCursor, events: readonly DatedRootLog[]): void {
    [this.cursor, this.events] = [cursor, events];
    this.#hasNewEvents = true;
  }

  /** Writes all changes to disk. @throws TransportError FILE_UNWRITABLE */
  save(): void {
    this.#database.transaction(() => {
      for (const [root, { sha256, users }] of this.#pending) insertFile(this.#database, root, sha256, users);
      if (this.#hasNewEvents) insertEvents(this.#database, this.events);
      const { cursor, events } = this;
      insertState(this.#database, this.#target, { cursor, events });
    });
    this.#pending.clear();
    this.#hasNewEvents = false;
  }

  /** Closes the file. Unsaved changes are lost. */
  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }

  /** @throws ArgumentError STATE_INVALID */
  #load(): void {
    const state = checkedRow("The state", this.#database.row("SELECT * FROM state"));
    checkTarget(
      { chainId: state["chain_id"], genesisHash: state["genesis_hash"], contract: state["contract"] },
      this.#target,
    );
    if (state["cursor_number"] !== null) {
      this.cursor = {
        number: stateShape.count("cursor_number", state["cursor_number"]),
        hash: stateShape.text("cursor_hash", state["cursor_hash"], LOWERCASE_HASH),
        timestamp: stateShape.count("cursor_timestamp", state["cursor_timestamp"]),
      };
    }
    this.events = this.#loadEvents();
    const fileCount = this.#checkFiles();
    if (this.events.length !== state["event_count"] || fileCount !== state["file_count"]) {
      throw invalidState("Rows were added or removed.");
    }
  }

  #loadEvents(): DatedRootLog[] {
    const rows = this.#database.rows("SELECT * FROM events ORDER BY position");
    return Array.from(rows, (row, i) => {
      const event = checkedRow(`Event ${i}`, row);
      return {
        root: stateShape.text("root", event["root"], MERKLE_ROOT),
        addedCount: stateShape.count("added_count", event["added_count"]),
        blockNumber: stateShape.count("block_number", event["block_number"]),
        blockHash: stateShape.text("block_hash", event["block_hash"], LOWERCASE_HASH),
        logIndex: stateShape.count("log_index", event["log_index"]),
        timestamp: stateShape.count("timestamp", event["timestamp"]),
      };
    });
  }

  /** Checks every file and its users, without keeping them in memory. @returns the number of files */
  #checkFiles(): number {
    let count = 0;
    for (const row of this.#database.rows("SELECT * FROM files")) {
      const { root, users_sha256: usersSha256 } = checkedRow(`File ${count}`, row);
      const users = this.#database.row("SELECT users FROM users WHERE root = ?", root ?? null)?.["users"];
      if (!(users instanceof Uint8Array) || hash("sha256", users) !== usersSha256 || users.length % USER_BYTES !== 0) {
        throw invalidState(`The users of ${String(root)} were changed or are missing.`);
      }
      count++;
    }
    return count;
  }
}

const EMPTY: SavedHistory = { cursor: undefined, events: [] };

function insertState(
  database: StateDatabase,
  { chainId, genesisHash, contract }: AuditTarget,
  { cursor, events }: SavedHistory,
): void {
  const fileCount = Number(database.row("SELECT count(*) AS count FROM files")?.["count"]);
  const position = [cursor?.number ?? null, cursor?.hash ?? null, cursor?.timestamp ?? null];
  const values = [1, chainId, genesisHash, contract, ...position, events.length, fileCount];
  const sql = "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  database.run(sql, ...values, checksumOf(values));
}

function insertEvents(database: StateDatabase, events: readonly DatedRootLog[]): void {
  database.run("DELETE FROM events");
  for (const [i, { root, addedCount, blockNumber, blockHash, logIndex, timestamp }] of events.entries()) {
    const values = [i, root, addedCount, blockNumber, blockHash, logIndex, timestamp];
    database.run("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ...values, checksumOf(values));
  }
}

function insertFile(database: StateDatabase, root: string, sha256: string, users: Uint8Array): void {
  const usersSha256 = hash("sha256", users);
  const known = database.row("SELECT users_sha256 FROM files WHERE root = ?", root);
  if (known?.["users_sha256"] !== usersSha256) database.run("INSERT OR REPLACE INTO users VALUES (?, ?)", root, users);
  const values = [root, sha256, usersSha256];
  database.run("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", ...values, checksumOf(values));
}
