import type { KeyTypeName } from "keyroot/internal/identity";
import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { parseJson } from "keyroot/internal/input";
import { MAX_VALUES, MERKLE_ROOT } from "keyroot/internal/merkle";
import { type Row, StateDatabase } from "../disk/stateDatabase.ts";
import { USER_BYTES } from "./auditFile.ts";
import type { UserWithOtherRoot } from "./auditRoot.ts";
import type { BlockCursor, DatedRootLog, SavedHistory } from "../follow/index.ts";
import {
  type AuditTarget,
  checkTarget,
  invalidState,
  normalizeTarget,
  openStateFile,
  type OpenStateOptions,
  readUserID,
  stateFormat,
  stateShape,
} from "./openStateFile.ts";

/** The data that the state stores about a root's file. */
export interface RecordedFile {
  /**
   * The SHA-256 of the file in 64 hex digits. It is undefined if the file has findings, and every run then audits the
   * file again.
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
  genesis_hash TEXT CHECK (octet_length(genesis_hash) = 66),
  contract TEXT NOT NULL CHECK (octet_length(contract) = 42),
  key_type TEXT NOT NULL CHECK (octet_length(key_type) <= 32),
  cursor_number INTEGER,
  cursor_hash TEXT CHECK (octet_length(cursor_hash) = 66),
  cursor_timestamp INTEGER
) STRICT`,
    `CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  root TEXT NOT NULL CHECK (octet_length(root) = 64),
  added_count INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  block_hash TEXT NOT NULL CHECK (octet_length(block_hash) = 66),
  log_index INTEGER NOT NULL,
  timestamp INTEGER NOT NULL
) STRICT`,
    `CREATE TABLE files (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  sha256 TEXT CHECK (octet_length(sha256) = 64)
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE users (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  users BLOB NOT NULL CHECK (octet_length(users) <= 67108864 AND octet_length(users) % ${USER_BYTES} = 0)
) STRICT`,
    `CREATE TABLE others (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  users TEXT NOT NULL CHECK (octet_length(users) <= 268435456)
) STRICT`,
  ],
});

/**
 * What an audit keeps for its next run: the events up to a block, and the SHA-256 and the users of each valid file. The
 * next run still reads every file, but audits only files that have changed.
 *
 * The state is an SQLite database (`StateDatabase`). `save` writes all changes in one transaction, so the state stays
 * complete if a run is interrupted. Anyone who can write to the file can change the result of the next audit. Therefore
 * keep it where no one else can write, or use `fresh`.
 */
export class AuditState implements SavedHistory, Disposable {
  readonly #database: StateDatabase;
  readonly #pending = new Map<string, RecordedFile & { others: readonly UserWithOtherRoot[] }>();
  #newEvents: readonly DatedRootLog[] | undefined;
  readonly target: AuditTarget;
  cursor: BlockCursor | undefined;

  /** Reads a state from the database. @param expected the required contract and chain */
  private constructor(database: StateDatabase, expected: AuditTarget) {
    this.#database = database;
    this.target = expected;
    this.cursor = this.#load();
  }

  /**
   * Opens a state, or creates a new one if it is missing or damaged.
   * @param path the file of the state. Next to it are `<path>.lock` and, while the state is open, `<path>-wal`
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

  /** Creates a state in memory for any contract and chain. */
  static inMemory(keyType?: KeyTypeName): AuditState {
    const target = { chainId: 0, contract: `0x${"0".repeat(40)}`, keyType };
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

  /** Deletes the last run's users with different roots. */
  startRun(): void {
    this.#database.run("DELETE FROM others");
  }

  /**
   * Records the audit of a file that matches its root.
   * @param sha256 undefined if the file has findings
   * @param users the file's users, `USER_BYTES` bytes each
   * @param others the users in the file who have a different root in the contract
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

  /** Writes all pending changes to disk. @throws TransportError FILE_UNWRITABLE */
  save(): void {
    const database = this.#database;
    database.transaction(() => {
      for (const [root, { sha256, users, others }] of this.#pending) {
        const known = database.row("SELECT sha256 FROM files WHERE root = ?", root)?.["sha256"];
        // The same bytes contain the same users.
        if (sha256 === undefined || known !== sha256)
          database.run("INSERT OR REPLACE INTO users VALUES (?, ?)", root, users);
        database.run("INSERT OR REPLACE INTO files VALUES (?, ?)", root, sha256 ?? null);
        if (others.length > 0)
          database.run("INSERT OR REPLACE INTO others VALUES (?, ?)", root, JSON.stringify(others));
      }
      if (this.#newEvents !== undefined) insertEvents(database, this.#newEvents);
      insertState(database, this.target, this.cursor);
    });
    this.#pending.clear();
    this.#newEvents = undefined;
  }

  /** Closes the database. Unsaved changes are lost. */
  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }

  /** Checks the contract and chain, and returns the saved cursor. @throws ArgumentError STATE_INVALID */
  #load(): BlockCursor | undefined {
    const state = this.#database.row("SELECT * FROM state") ?? {};
    const { chain_id: chainId, genesis_hash: genesisHash, contract } = state;
    checkTarget({ chainId, genesisHash, contract }, this.target);
    checkStateKeyType({ keyType: state["key_type"] }, this.target.keyType);
    if (state["cursor_number"] === null) return undefined;
    return {
      number: stateShape.count("cursor_number", state["cursor_number"]),
      hash: stateShape.text("cursor_hash", state["cursor_hash"], LOWERCASE_HASH),
      timestamp: stateShape.count("cursor_timestamp", state["cursor_timestamp"]),
    };
  }

  *#readEvents(): Generator<DatedRootLog> {
    for (const event of this.#database.rows("SELECT * FROM events ORDER BY position"))
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

/**
 * Rejects a state from audits of another key type. An audit that used it would skip files that are valid only for the
 * other type.
 * @throws ArgumentError STATE_INVALID
 */
export function checkStateKeyType(
  { keyType: actual }: { keyType?: unknown },
  expected: KeyTypeName = "curve41417",
): void {
  if ((actual ?? "curve41417") === expected) return;
  const message = `It is from an audit with the key type ${String(actual)}, but this audit has the key type ${expected}.`;
  throw invalidState(message);
}

function insertState(
  database: StateDatabase,
  { chainId, genesisHash, contract, keyType = "curve41417" }: AuditTarget,
  cursor?: BlockCursor,
): void {
  const position = [cursor?.number ?? null, cursor?.hash ?? null, cursor?.timestamp ?? null];
  const sql = "INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?, ?, ?)";
  database.run(sql, chainId, genesisHash ?? null, contract, keyType, ...position);
}

function insertEvents(database: StateDatabase, events: readonly DatedRootLog[]): void {
  database.run("DELETE FROM events");
  for (const [i, { root, addedCount, blockNumber, blockHash, logIndex, timestamp }] of events.entries()) {
    const values = [i, root, addedCount, blockNumber, blockHash, logIndex, timestamp];
    database.run("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", ...values);
  }
}

function readOthers({ root, users }: Row): RecordedOthers {
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
