import { hash } from "node:crypto";
import type { KeyTypeName } from "keyroot/internal/identity";
import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { parseJson } from "keyroot/internal/input";
import { MAX_VALUES, MERKLE_ROOT } from "keyroot/internal/merkle";
import { checksumOf, type Row, StateDatabase } from "../disk/stateDatabase.ts";
import { USER_BYTES } from "./auditFile.ts";
import type { UserWithOtherRoot } from "./auditRoot.ts";
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
  readUserID,
  stateFormat,
  stateShape,
} from "./openStateFile.ts";
import { insertPartResult, PART_RESULT_TABLE, type PartResult, readPartResult } from "./partResult.ts";

/** The data that the state stores about a root's file. */
export interface RecordedFile {
  /**
   * SHA-256 of the file's bytes: 64 hex digits. Undefined if the file has findings, so that every run audits the file
   * again.
   */
  sha256: string | undefined;
  /** The users in the file, with `USER_BYTES` bytes each. */
  users: Uint8Array;
}

/** The users in a root's file to whom the contract assigns a different root. */
export interface RecordedOthers {
  /** The root of the file: 64 lowercase hex digits. */
  root: string;
  users: readonly UserWithOtherRoot[];
}

const CHECKSUM = "checksum TEXT NOT NULL CHECK (octet_length(checksum) = 64)";

/** Users have a separate table, so that a new run does not write the users of unchanged files again. */
const FORMAT = stateFormat({
  applicationId: 0x4b524155, // "KRAU"
  version: 3,
  // A state with 200 million users fits in this size.
  maxBytes: 2 ** 33,
  tables: [
    `CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chain_id INTEGER NOT NULL,
  genesis_hash TEXT NOT NULL CHECK (octet_length(genesis_hash) = 66),
  contract TEXT NOT NULL CHECK (octet_length(contract) = 42),
  key_type TEXT NOT NULL CHECK (octet_length(key_type) <= 32),
  cursor_number INTEGER,
  cursor_hash TEXT CHECK (octet_length(cursor_hash) = 66),
  cursor_timestamp INTEGER,
  event_count INTEGER NOT NULL,
  file_count INTEGER NOT NULL,
  other_count INTEGER NOT NULL,
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
  sha256 TEXT CHECK (octet_length(sha256) = 64),
  users_sha256 TEXT NOT NULL CHECK (octet_length(users_sha256) = 64),
  ${CHECKSUM}
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE users (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  users BLOB NOT NULL CHECK (octet_length(users) <= 67108864)
) STRICT`,
    `CREATE TABLE others (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  users TEXT NOT NULL CHECK (octet_length(users) <= 268435456),
  ${CHECKSUM}
) STRICT`,
    PART_RESULT_TABLE,
  ],
});

/**
 * The state of an audit between runs. The state contains the events up to a block, and the SHA-256 and users of each
 * valid file. A run reads every file, but audits only changed files. The state also contains a part's result for
 * `mergeParts`. The state is an SQLite database (`StateDatabase`). `save` writes all changes in one transaction, so an
 * interrupted run leaves a complete state. Each row has a checksum, and the state contains the number of rows. The
 * checksums and the number of rows show damage and careless edits. An attacker who can write the file can also write
 * valid checksums. Keep the file where no one else can write, or use `fresh`.
 */
export class AuditState implements SavedHistory, Disposable {
  readonly #database: StateDatabase;
  readonly #pending = new Map<string, RecordedFile & { others: readonly UserWithOtherRoot[] }>();
  #newEvents: readonly DatedRootLog[] | undefined;
  readonly target: AuditTarget;
  cursor: BlockCursor | undefined;

  /** Reads a state from the database. @param expected the required contract and chain, or undefined to accept any */
  private constructor(database: StateDatabase, expected?: AuditTarget) {
    this.#database = database;
    this.target = this.#load(expected);
  }

  /**
   * Opens a state and checks every row. Creates the state if it does not exist.
   * @param path the path of the state. The same folder also contains `<path>.lock`, and `<path>-wal` while the state is
   * open
   * @throws ArgumentError STATE_LOCKED, STATE_INVALID; TransportError FILE_UNREADABLE, FILE_UNWRITABLE
   */
  static async open(path: string, target: AuditTarget, options: OpenStateOptions = {}): Promise<AuditState> {
    const about = normalizeTarget(target);
    const kind = {
      format: FORMAT,
      fill: (database: StateDatabase) => {
        insertState(database, about);
      },
      load: (database: StateDatabase) => new AuditState(database, about),
    };
    return openStateFile(path, kind, options);
  }

  /** Opens an existing state for any contract and chain. @throws the errors of `open` */
  static async openExisting(path: string): Promise<AuditState> {
    const fill = () => {
      throw invalidState("The file does not exist.");
    };
    return openStateFile(path, { format: FORMAT, fill, load: (database) => new AuditState(database) }, {});
  }

  /** Makes a state in memory for any contract and chain. */
  static inMemory(keyType?: KeyTypeName): AuditState {
    const target = { chainId: 0, genesisHash: `0x${"0".repeat(64)}`, contract: `0x${"0".repeat(40)}`, keyType };
    const fill = (database: StateDatabase) => {
      insertState(database, target);
    };
    return new AuditState(StateDatabase.inMemory(FORMAT, fill), target);
  }

  /** All events up to the cursor. To save memory, each access reads the saved events from the database. */
  get events(): readonly DatedRootLog[] {
    return this.#newEvents ?? [...this.#readEvents()];
  }

  /** Returns the recorded file of a root, or undefined. */
  file(root: string): RecordedFile | undefined {
    const pending = this.#pending.get(root);
    if (pending !== undefined) return { sha256: pending.sha256, users: pending.users };
    const row = this.#database.row("SELECT sha256, users FROM files JOIN users USING (root) WHERE root = ?", root);
    if (row === undefined) return undefined;
    return { sha256: row["sha256"] === null ? undefined : String(row["sha256"]), users: row["users"] as Uint8Array };
  }

  /** Returns the saved users of this run who have a different root than their file. */
  *others(): Generator<RecordedOthers> {
    for (const row of this.#database.rows("SELECT * FROM others")) yield readOthers(row);
  }

  /** The result of the last run, if the run audited a part and read all files of the part. */
  get partResult(): PartResult | undefined {
    return readPartResult(this.#database);
  }

  /** Deletes the last run's result, and the last run's users with different roots. */
  startRun(): void {
    this.#database.transaction(() => {
      this.#database.run("DELETE FROM part_result");
      this.#database.run("DELETE FROM others");
      this.#insertState();
    });
  }

  /**
   * Records a file that matches its root.
   * @param sha256 undefined if the file has findings
   * @param users the users in the file, with `USER_BYTES` bytes each
   * @param others the users with a different root in the contract
   */
  recordFile(
    root: string,
    sha256: string | undefined,
    users: Uint8Array,
    others: readonly UserWithOtherRoot[] = [],
  ): void {
    this.#pending.set(root, { sha256, users, others });
  }

  /** Replaces the recorded events with the events up to a block. */
  recordHistory(cursor: BlockCursor, events: readonly DatedRootLog[]): void {
    [this.cursor, this.#newEvents] = [cursor, events];
  }

  /** Writes the result of a part to disk. @throws TransportError FILE_UNWRITABLE */
  savePartResult(result: PartResult): void {
    this.#database.transaction(() => {
      insertPartResult(this.#database, result);
    });
  }

  /** Writes all pending changes to disk. @throws TransportError FILE_UNWRITABLE */
  save(): void {
    this.#database.transaction(() => {
      for (const [root, { sha256, users, others }] of this.#pending) {
        insertFile(this.#database, root, sha256, users);
        if (others.length > 0) insertOthers(this.#database, root, others);
      }
      if (this.#newEvents !== undefined) insertEvents(this.#database, this.#newEvents);
      this.#insertState();
    });
    this.#pending.clear();
    this.#newEvents = undefined;
  }

  /** Closes the database. Unsaved changes are lost. */
  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }

  #insertState(): void {
    insertState(this.#database, this.target, this.cursor);
  }

  /** Checks every row. @throws ArgumentError STATE_INVALID */
  #load(expected: AuditTarget | undefined): AuditTarget {
    const state = checkedRow("The state", this.#database.row("SELECT * FROM state"));
    const target = {
      chainId: stateShape.count("chain_id", state["chain_id"]),
      genesisHash: stateShape.text("genesis_hash", state["genesis_hash"], LOWERCASE_HASH),
      contract: stateShape.text("contract", state["contract"]),
      keyType: stateShape.text("key_type", state["key_type"]) as KeyTypeName,
    };
    if (expected !== undefined) {
      checkTarget(target, expected);
      checkStateKeyType(target, expected.keyType);
    }
    if (state["cursor_number"] !== null) {
      this.cursor = {
        number: stateShape.count("cursor_number", state["cursor_number"]),
        hash: stateShape.text("cursor_hash", state["cursor_hash"], LOWERCASE_HASH),
        timestamp: stateShape.count("cursor_timestamp", state["cursor_timestamp"]),
      };
    }
    readPartResult(this.#database);
    const counts = { event_count: lengthOf(this.#readEvents()), other_count: lengthOf(this.others()) };
    const found = { ...counts, file_count: this.#checkFiles() };
    for (const [name, count] of Object.entries(found)) {
      if (count !== state[name]) throw invalidState("Rows were added or removed.");
    }
    return target;
  }

  *#readEvents(): Generator<DatedRootLog> {
    let i = 0;
    for (const row of this.#database.rows("SELECT * FROM events ORDER BY position")) {
      const event = checkedRow(`Event ${i++}`, row);
      yield {
        root: stateShape.text("root", event["root"], MERKLE_ROOT),
        addedCount: stateShape.count("added_count", event["added_count"]),
        blockNumber: stateShape.count("block_number", event["block_number"]),
        blockHash: stateShape.text("block_hash", event["block_hash"], LOWERCASE_HASH),
        logIndex: stateShape.count("log_index", event["log_index"]),
        timestamp: stateShape.count("timestamp", event["timestamp"]),
      };
    }
  }

  /** Checks the files one at a time, with each file's users, to save memory. @returns the number of files */
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

/**
 * Checks that a state is from audits with this key type, because an audit may skip the files that are valid in its state.
 * @throws ArgumentError STATE_INVALID
 */
export function checkStateKeyType({ keyType: actual }: AuditTarget, expected: KeyTypeName = "curve41417"): void {
  if (actual === expected) return;
  throw invalidState(`It is from an audit with the key type ${actual}, but this audit has the key type ${expected}.`);
}

function lengthOf(rows: Iterator<unknown>): number {
  let length = 0;
  while (rows.next().done !== true) length++;
  return length;
}

function insertState(
  database: StateDatabase,
  { chainId, genesisHash, contract, keyType = "curve41417" }: AuditTarget,
  cursor?: BlockCursor,
): void {
  const counts = ["events", "files", "others"].map((table) => {
    return Number(database.row(`SELECT count(*) AS count FROM ${table}`)?.["count"]);
  });
  const position = [cursor?.number ?? null, cursor?.hash ?? null, cursor?.timestamp ?? null];
  const values = [1, chainId, genesisHash, contract, keyType, ...position, ...counts];
  const sql = "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  database.run(sql, ...values, checksumOf(values));
}

function insertEvents(database: StateDatabase, events: readonly DatedRootLog[]): void {
  database.run("DELETE FROM events");
  for (const [i, { root, addedCount, blockNumber, blockHash, logIndex, timestamp }] of events.entries()) {
    const values = [i, root, addedCount, blockNumber, blockHash, logIndex, timestamp];
    database.run("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ...values, checksumOf(values));
  }
}

function insertFile(database: StateDatabase, root: string, sha256: string | undefined, users: Uint8Array): void {
  const usersSha256 = hash("sha256", users);
  const known = database.row("SELECT users_sha256 FROM files WHERE root = ?", root);
  if (known?.["users_sha256"] !== usersSha256) database.run("INSERT OR REPLACE INTO users VALUES (?, ?)", root, users);
  const values = [root, sha256 ?? null, usersSha256];
  database.run("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", ...values, checksumOf(values));
}

function insertOthers(database: StateDatabase, root: string, users: readonly UserWithOtherRoot[]): void {
  const values = [root, JSON.stringify(users)];
  database.run("INSERT OR REPLACE INTO others VALUES (?, ?, ?)", ...values, checksumOf(values));
}

function readOthers(row: Row): RecordedOthers {
  const { root, users } = checkedRow("A root's users with other roots", row);
  return {
    root: stateShape.text("root", root, MERKLE_ROOT),
    users: stateShape.list("users", parseJson(String(users), 2), MAX_VALUES, (where, value) => {
      const { userID, userRoot } = stateShape.object(where, value, ["userID", "userRoot"]);
      return {
        userID: readUserID(`${where}.userID`, userID),
        userRoot: stateShape.text(`${where}.userRoot`, userRoot, MERKLE_ROOT),
      };
    }),
  };
}
