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

/** The data that a watch keeps between polls. */
interface WatchStateContent {
  /** The blocks up to which every root was audited, with the newest last. */
  cursors: readonly WatchCursor[];
  /** The roots of the watched users. */
  roots: ReadonlyMap<UserID, string>;
  /**
   * The suspects: roots with files that were missing, invalid or not read. Each poll reads these files until they are
   * valid.
   */
  suspects: readonly string[];
  /** The suspects with unavailable files, and the time of each file's first failed request in ms since 1970. */
  unavailable: ReadonlyMap<string, number>;
}

/**
 * The number of saved blocks. After a reorganization, the watch searches the saved blocks for the last block that is
 * still on the chain.
 */
const MAX_CURSORS = 64;
const MAX_USERS = 1_000_000;
const CURSOR = ["number", "hash", "timestamp", "userCount"] as const;

/**
 * The format of a watch's state. Cursors, suspects and unavailable files are short lists, so the state stores these
 * lists as JSON.
 */
const FORMAT = stateFormat({
  applicationId: 0x4b525741, // "KRWA"
  version: 2,
  maxBytes: 2 ** 30,
  tables: [
    `CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chain_id INTEGER NOT NULL,
  genesis_hash TEXT CHECK (octet_length(genesis_hash) = 66),
  contract TEXT NOT NULL CHECK (octet_length(contract) = 42),
  cursors TEXT NOT NULL CHECK (octet_length(cursors) <= 65536),
  suspects TEXT NOT NULL CHECK (octet_length(suspects) <= 67108864),
  unavailable TEXT NOT NULL CHECK (octet_length(unavailable) <= 134217728)
) STRICT`,
    `CREATE TABLE roots (
  user_id TEXT PRIMARY KEY CHECK (octet_length(user_id) <= 64),
  root TEXT NOT NULL CHECK (octet_length(root) = 64)
) STRICT, WITHOUT ROWID`,
  ],
});

/** The state of a watch: an SQLite database (`StateDatabase`). */
export class WatchState implements WatchStateContent, Disposable {
  readonly #database: StateDatabase;
  readonly #target: AuditTarget;
  readonly #roots: Map<UserID, string>;
  cursors: readonly WatchCursor[];
  suspects: readonly string[];
  unavailable: ReadonlyMap<string, number>;

  private constructor(database: StateDatabase, target: AuditTarget) {
    this.#database = database;
    this.#target = target;
    const state = database.row("SELECT * FROM state") ?? {};
    const { chain_id: chainId, genesis_hash: genesisHash, contract } = state;
    checkTarget({ chainId, genesisHash, contract }, target);
    this.cursors = stateShape.list("cursors", parseJson(String(state["cursors"]), 2), MAX_CURSORS, readCursor);
    this.suspects = stateShape.list("suspects", parseJson(String(state["suspects"]), 2), MAX_USERS, readHash);
    const unavailable = parseJson(String(state["unavailable"]), 2);
    this.unavailable = new Map(stateShape.list("unavailable", unavailable, MAX_USERS, readUnavailable));
    this.#roots = new Map(Array.from(database.rows("SELECT * FROM roots"), readRoot));
  }

  /**
   * Opens a state. Creates a missing state, and builds a damaged state again.
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
      insertContent(database, about, { cursors: [], roots: new Map(), suspects: [], unavailable: new Map() });
    };
    if (path === undefined) return new WatchState(StateDatabase.inMemory(FORMAT, fill), about);
    const load = (database: StateDatabase) => new WatchState(database, about);
    return openStateFile(path, { format: FORMAT, fill, load }, options);
  }

  get roots(): ReadonlyMap<UserID, string> {
    return this.#roots;
  }

  /**
   * Writes the results of a poll to disk in one transaction.
   * @param poll the results. `cursor` is the block up to which every root was audited, and replaces all higher cursors.
   * `cursor` is undefined if events are missing. `newRoots` are roots of watched users with valid files. `unavailable`
   * is empty by default
   * @throws TransportError FILE_UNWRITABLE
   */
  save({
    cursor,
    newRoots,
    suspects,
    unavailable = new Map(),
  }: {
    cursor: WatchCursor | undefined;
    newRoots: ReadonlyMap<UserID, string>;
    suspects: readonly string[];
    unavailable?: ReadonlyMap<string, number>;
  }): void {
    const older = this.cursors.filter(({ number }) => cursor === undefined || number < cursor.number);
    const cursors = [...older, ...(cursor === undefined ? [] : [cursor])].slice(-MAX_CURSORS);
    this.#database.transaction(() => {
      insertContent(this.#database, this.#target, { cursors, roots: newRoots, suspects, unavailable });
    });
    this.cursors = cursors;
    this.suspects = suspects;
    this.unavailable = unavailable;
    for (const [userID, root] of newRoots) this.#roots.set(userID, root);
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

/** Inserts content into the tables of a state. @param roots only new roots */
function insertContent(
  database: StateDatabase,
  { chainId, genesisHash, contract }: AuditTarget,
  { cursors, roots, suspects, unavailable }: WatchStateContent,
): void {
  for (const row of roots) database.run("INSERT OR REPLACE INTO roots VALUES (?, ?)", ...row);
  const lists = [JSON.stringify(cursors), JSON.stringify(suspects), JSON.stringify(listOf(unavailable))];
  const sql = "INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?, ?)";
  database.run(sql, chainId, genesisHash ?? null, contract, ...lists);
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

function listOf(unavailable: ReadonlyMap<string, number>): object[] {
  return Array.from(unavailable, ([root, since]) => ({ root, since }));
}

function readUnavailable(where: string, value: unknown): [root: string, since: number] {
  const { root, since } = stateShape.object(where, value, ["root", "since"]);
  return [readHash(`${where}.root`, root), stateShape.count(`${where}.since`, since)];
}

function readHash(where: string, value: unknown): string {
  return stateShape.text(where, value, MERKLE_ROOT);
}
