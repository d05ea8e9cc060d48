import { isDeepStrictEqual } from "node:util";
import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import type { UserID } from "keyroot/internal/identity";
import { parseJson } from "keyroot/internal/input";
import { MERKLE_ROOT } from "keyroot/internal/merkle";
import { type Row, StateDatabase } from "../disk/stateDatabase.ts";
import type { BlockCursor } from "../follow/index.ts";
import {
  type AuditTarget,
  checkTarget,
  normalizeTarget,
  openStateFile,
  type OpenStateOptions,
  stateFormat,
  stateShape,
} from "../audit/openStateFile.ts";

/** A block up to which every root was audited. */
export interface WatchCursor extends BlockCursor {
  /** The contract's number of users at this block. Undefined if the contract does not count users. */
  userCount?: number | undefined;
}

/** A file that a watch reads. Its root belongs to a watched user, or the watch has not found the file valid yet. */
export interface WatchedFile {
  /** True until the watch has read the file and found nothing wrong in it. */
  isSuspect: boolean;
  /** The time of the last read without findings, in ms since 1970. */
  readAt?: number | undefined;
  /**
   * The time of the last request, in ms since 1970. The next poll continues with the files that have waited longest.
   */
  triedAt?: number | undefined;
  /** The time since which the file is due but was not read, in ms since 1970. */
  dueSince?: number | undefined;
}

/** The results of a poll. */
export interface PollResults {
  /** The block up to which every root was audited. It replaces all higher cursors. Undefined if events are missing. */
  cursor: WatchCursor | undefined;
  /** The new roots of watched users, with valid files. */
  newRoots: ReadonlyMap<UserID, string>;
  /** The files that changed, by their roots. Undefined for a file that the watch need not read again. */
  files: ReadonlyMap<string, WatchedFile | undefined>;
}

/**
 * The number of saved blocks. After a reorganization, the watch searches these blocks for the last one that is still on
 * the chain.
 */
const MAX_CURSORS = 64;
const CURSOR = ["number", "hash", "timestamp", "userCount"] as const;

/** The format of a watch's state. The cursors are a short list, so the state stores them as JSON. */
const FORMAT = stateFormat({
  applicationId: 0x4b525741, // "KRWA"
  version: 4,
  maxBytes: 2 ** 30,
  tables: [
    `CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chain_id INTEGER NOT NULL,
  genesis_hash TEXT CHECK (octet_length(genesis_hash) = 66),
  contract TEXT NOT NULL CHECK (octet_length(contract) = 42),
  cursors TEXT NOT NULL CHECK (octet_length(cursors) <= 65536)
) STRICT`,
    `CREATE TABLE files (
  root TEXT PRIMARY KEY CHECK (octet_length(root) = 64),
  is_suspect INTEGER NOT NULL CHECK (is_suspect IN (0, 1)),
  read_at INTEGER,
  tried_at INTEGER,
  due_since INTEGER
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE roots (
  user_id TEXT PRIMARY KEY CHECK (octet_length(user_id) <= 64),
  root TEXT NOT NULL CHECK (octet_length(root) = 64)
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE alarms (
  key TEXT PRIMARY KEY CHECK (octet_length(key) <= 256)
) STRICT, WITHOUT ROWID`,
  ],
});

/** The state of a watch: an SQLite database (`StateDatabase`). */
export class WatchState implements Disposable {
  readonly #database: StateDatabase;
  readonly #target: AuditTarget;
  readonly #roots: Map<UserID, string>;
  readonly #files: Map<string, WatchedFile>;
  #alarms: ReadonlySet<string>;
  /** The blocks up to which every root was audited, with the newest last. */
  cursors: readonly WatchCursor[];

  private constructor(database: StateDatabase, target: AuditTarget) {
    this.#database = database;
    this.#target = target;
    const state = database.row("SELECT * FROM state") ?? {};
    const { chain_id: chainId, genesis_hash: genesisHash, contract } = state;
    checkTarget({ chainId, genesisHash, contract }, target);
    this.cursors = stateShape.list("cursors", parseJson(String(state["cursors"]), 2), MAX_CURSORS, readCursor);
    this.#files = new Map(Array.from(database.rows("SELECT * FROM files"), readFile));
    this.#roots = new Map(Array.from(database.rows("SELECT * FROM roots"), readRoot));
    this.#alarms = new Set(Array.from(database.rows("SELECT * FROM alarms"), ({ key }) => stateShape.text("key", key)));
  }

  /**
   * Opens a state, or creates a new one if it is missing or damaged.
   * @param path the path of the file, or undefined for a state in memory
   * @throws ArgumentError STATE_LOCKED, STATE_INVALID; TransportError FILE_UNREADABLE, FILE_UNWRITABLE
   */
  static async open(
    path: string | undefined,
    target: AuditTarget,
    options: OpenStateOptions = {},
  ): Promise<WatchState> {
    const about = normalizeTarget(target);
    const fill = (database: StateDatabase) => {
      insertContent(database, about, []);
    };
    if (path === undefined) return new WatchState(StateDatabase.inMemory(FORMAT, fill), about);
    const load = (database: StateDatabase) => new WatchState(database, about);
    return openStateFile(path, { format: FORMAT, fill, load }, options);
  }

  /** The roots of the watched users. */
  get roots(): ReadonlyMap<UserID, string> {
    return this.#roots;
  }

  /** The files to read, by their roots. */
  get files(): ReadonlyMap<string, WatchedFile> {
    return this.#files;
  }

  /** The alarms that were reported and may last, by `alarmKeyOf`. */
  get alarms(): ReadonlySet<string> {
    return this.#alarms;
  }

  /** Replaces the reported alarms on disk. @throws TransportError FILE_UNWRITABLE */
  saveAlarms(alarms: ReadonlySet<string>): void {
    if (isDeepStrictEqual(alarms, this.#alarms)) return;
    const database = this.#database;
    database.transaction(() => {
      database.run("DELETE FROM alarms");
      for (const key of alarms) database.run("INSERT INTO alarms VALUES (?)", key);
    });
    this.#alarms = alarms;
  }

  /** Writes the results of a poll to disk in one transaction. @throws TransportError FILE_UNWRITABLE */
  save({ cursor, newRoots, files }: PollResults): void {
    const older = this.cursors.filter(({ number }) => cursor === undefined || number < cursor.number);
    const cursors = [...older, ...(cursor === undefined ? [] : [cursor])].slice(-MAX_CURSORS);
    const database = this.#database;
    database.transaction(() => {
      insertContent(database, this.#target, cursors);
      for (const row of newRoots) database.run("INSERT OR REPLACE INTO roots VALUES (?, ?)", ...row);
      for (const [root, file] of files) {
        if (file === undefined) database.run("DELETE FROM files WHERE root = ?", root);
        else database.run("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", root, ...columnsOf(file));
      }
    });
    this.cursors = cursors;
    for (const [userID, root] of newRoots) this.#roots.set(userID, root);
    for (const [root, file] of files) {
      if (file === undefined) this.#files.delete(root);
      else this.#files.set(root, file);
    }
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

function insertContent(
  database: StateDatabase,
  { chainId, genesisHash, contract }: AuditTarget,
  cursors: readonly WatchCursor[],
): void {
  const sql = "INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?)";
  database.run(sql, chainId, genesisHash ?? null, contract, JSON.stringify(cursors));
}

function columnsOf({ isSuspect, readAt, triedAt, dueSince }: WatchedFile): (number | null)[] {
  return [isSuspect ? 1 : 0, readAt ?? null, triedAt ?? null, dueSince ?? null];
}

function readRoot({ user_id: userID, root }: Row): [UserID, string] {
  return [stateShape.text("user_id", userID), readHash("root", root)];
}

function readCursor(where: string, value: unknown): WatchCursor {
  const { number, hash, timestamp, userCount } = stateShape.fields(where, value, CURSOR);
  return {
    number: stateShape.count(`${where}.number`, number),
    hash: stateShape.text(`${where}.hash`, hash, LOWERCASE_HASH),
    timestamp: stateShape.count(`${where}.timestamp`, timestamp),
    ...(userCount !== undefined && { userCount: stateShape.count(`${where}.userCount`, userCount) }),
  };
}

function readFile({ root, is_suspect, read_at, tried_at, due_since }: Row): [root: string, file: WatchedFile] {
  const time = (name: string, value: unknown) => (value === null ? undefined : stateShape.count(name, value));
  return [
    readHash("root", root),
    {
      isSuspect: is_suspect === 1,
      readAt: time("read_at", read_at),
      triedAt: time("tried_at", tried_at),
      dueSince: time("due_since", due_since),
    },
  ];
}

function readHash(where: string, value: unknown): string {
  return stateShape.text(where, value, MERKLE_ROOT);
}
