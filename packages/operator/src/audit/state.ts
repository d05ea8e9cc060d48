import { createHash, hash, type Hash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { TransportError } from "keyroot/errors";
import type { Cursor, DatedRoot, KnownHistory } from "./history.ts";
import { USER_BYTES } from "./judgeFile.ts";
import { invalidState, readIfThere, readSealed, stateShape, writeSealed } from "./sealedFile.ts";

/** The chain and contract that a state is about; the genesis block tells throw-away chains apart. */
export interface AuditPlace {
  chainId: number;
  /** 0x and 64 hex digits. */
  genesis: string;
  contract: string;
}

/** A file that was judged and found good. */
export interface AuditedFile {
  /** Of its bytes, in hex. */
  sha256: string;
  /** Its users, 36 bytes each. */
  users: Uint8Array;
  /** Whether that was in this run, which was interrupted, and not in an earlier one. */
  inThisRun: boolean;
}

interface FileNote {
  root: string;
  sha256: string;
  /** How many users it has. */
  users: number;
  /** The run that read it last. */
  run: number;
}

const FORMAT = "keyroot-audit-v1";
/** More than 100 million users. */
const MAX_USERS_BYTES = 2 ** 32;
const MAX_ENTRIES = 10_000_000;
const HASH = /^[0-9a-f]{64}$/;
const BLOCK_HASH = /^0x[0-9a-f]{64}$/;

/**
 * What an audit remembers from one run to the next: the events up to a block, and of each good file the hash of its
 * bytes and its users. Two files: the state itself, written whole, and beside it `.users`, which only grows; the state
 * says how much of that counts, and what its hash is. So whatever moment a run ends at, what stands there is done.
 *
 * The hashes show damage and careless edits. Who can write the files can write good hashes as well: then only `fresh`
 * helps, or to keep them where nobody else writes.
 */
export class AuditState implements KnownHistory {
  readonly #path: string;
  readonly #place: AuditPlace;
  readonly #notes = new Map<string, FileNote>();
  readonly #users = new Map<string, Uint8Array>();
  #pending: Uint8Array[] = [];
  #saving: Promise<void> = Promise.resolve();
  /** How many bytes of `.users` count, and their hash. */
  #length = 0;
  #hash: Hash = createHash("sha256");
  #run = 1;
  #finishedRun = 0;
  cursor: Cursor | undefined;
  events: readonly DatedRoot[] = [];

  private constructor(path: string, place: AuditPlace) {
    this.#path = path;
    this.#place = place;
  }

  /**
   * Opens a state, or begins one where there is none, or it is to be `fresh`.
   * @throws ArgumentError STATE_INVALID; TransportError FILE_UNREADABLE
   */
  static async open(path: string, place: AuditPlace, fresh = false): Promise<AuditState> {
    const state = new AuditState(path, place);
    if (!fresh) await readSealed(path, (content) => state.#read(content));
    return state;
  }

  get #usersPath(): string {
    return `${this.#path}.users`;
  }

  /** What is known of a root's file. */
  file(root: string): AuditedFile | undefined {
    const [note, users] = [this.#notes.get(root), this.#users.get(root)];
    return note && users && { sha256: note.sha256, users, inThisRun: note.run === this.#run };
  }

  /** Notes that a file was read in this run, and is good. @param users 36 bytes each */
  note(root: string, sha256: string, users: Uint8Array): void {
    if (!this.#users.has(root)) {
      this.#users.set(root, users);
      this.#pending.push(users);
    }
    this.#notes.set(root, { root, sha256, users: users.length / USER_BYTES, run: this.#run });
  }

  /** Notes that the run is through. @param history up to where all events are known; undefined where they do not add up */
  finish(history: { cursor: Cursor; events: readonly DatedRoot[] } | undefined): void {
    this.#finishedRun = this.#run;
    if (history === undefined || history.cursor.number < (this.cursor?.number ?? 0)) return;
    ({ cursor: this.cursor, events: this.events } = history);
  }

  /** Writes it down, after what is being written. @throws TransportError FILE_UNWRITABLE */
  save(): Promise<void> {
    return (this.#saving = this.#saving.then(() => this.#save()));
  }

  async #save(): Promise<void> {
    await this.#appendUsers();
    const content = {
      format: FORMAT,
      ...this.#place,
      run: this.#run,
      finishedRun: this.#finishedRun,
      cursor: this.cursor === undefined ? [] : [this.cursor],
      events: this.events,
      files: [...this.#notes.values()],
      users: { bytes: this.#length, sha256: this.#hash.copy().digest("hex") },
    };
    await writeSealed(this.#path, content);
  }

  /** Behind what counts; what a run left there that was interrupted is written over. */
  async #appendUsers(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    try {
      await mkdir(dirname(this.#usersPath), { recursive: true });
      await using file = await open(this.#usersPath, this.#length === 0 ? "w" : "r+");
      await file.truncate(this.#length);
      await file.write(bytes, 0, bytes.length, this.#length);
      await file.sync();
    } catch (cause) {
      const message = `${this.#usersPath} cannot be written: ${(cause as Error).message}.`;
      throw new TransportError("FILE_UNWRITABLE", message, { cause });
    }
    this.#length += bytes.length;
    this.#hash.update(bytes);
  }

  async #read(content: unknown): Promise<void> {
    const keys = [
      "format",
      "chainId",
      "genesis",
      "contract",
      "run",
      "finishedRun",
      "cursor",
      "events",
      "files",
      "users",
    ];
    const it = stateShape.object("content", content, keys);
    if (it["format"] !== FORMAT) throw invalidState("It is of another version.");
    const { chainId, genesis, contract } = this.#place;
    if (it["chainId"] !== chainId || it["genesis"] !== genesis || it["contract"] !== contract) {
      throw invalidState(`It is about another contract or chain than ${contract} on ${chainId}.`);
    }
    const run = stateShape.count("run", it["run"]);
    this.#finishedRun = stateShape.count("finishedRun", it["finishedRun"]);
    this.#run = this.#finishedRun === run ? run + 1 : run;
    [this.cursor] = stateShape.list("cursor", it["cursor"], 1, readCursor);
    this.events = stateShape.list("events", it["events"], MAX_ENTRIES, readEvent);
    await this.#readUsers(stateShape.list("files", it["files"], MAX_ENTRIES, readNote), it["users"]);
  }

  async #readUsers(notes: readonly FileNote[], users: unknown): Promise<void> {
    const known = stateShape.object("users", users, ["bytes", "sha256"]);
    const length = stateShape.count("users.bytes", known.bytes);
    const all = length === 0 ? new Uint8Array() : await readIfThere(this.#usersPath, MAX_USERS_BYTES);
    const counted = all?.subarray(0, length) ?? new Uint8Array();
    if (hash("sha256", counted) !== known.sha256 && length > 0) throw invalidState(`${this.#usersPath} was changed.`);
    let at = 0;
    for (const note of notes) {
      const end = at + note.users * USER_BYTES;
      this.#notes.set(note.root, note);
      this.#users.set(note.root, counted.subarray(at, end));
      at = end;
    }
    if (at !== length) throw invalidState(`${this.#usersPath} has other users than it says.`);
    this.#length = length;
    this.#hash.update(counted);
  }
}

/** Takes a cursor out of a state. */
export function readCursor(where: string, value: unknown): Cursor {
  const { number, hash } = stateShape.object(where, value, ["number", "hash"]);
  return {
    number: stateShape.count(`${where}.number`, number),
    hash: stateShape.text(`${where}.hash`, hash, BLOCK_HASH),
  };
}

function readEvent(where: string, value: unknown): DatedRoot {
  const keys = ["root", "addedCount", "blockNumber", "blockHash", "logIndex", "timestamp"] as const;
  const it = stateShape.object(where, value, keys);
  return {
    root: stateShape.text(`${where}.root`, it.root, HASH),
    addedCount: stateShape.count(`${where}.addedCount`, it.addedCount),
    blockNumber: stateShape.count(`${where}.blockNumber`, it.blockNumber),
    blockHash: stateShape.text(`${where}.blockHash`, it.blockHash, BLOCK_HASH),
    logIndex: stateShape.count(`${where}.logIndex`, it.logIndex),
    timestamp: stateShape.count(`${where}.timestamp`, it.timestamp),
  };
}

function readNote(where: string, value: unknown): FileNote {
  const it = stateShape.object(where, value, ["root", "sha256", "users", "run"]);
  return {
    root: stateShape.text(`${where}.root`, it.root, HASH),
    sha256: stateShape.text(`${where}.sha256`, it.sha256, HASH),
    users: stateShape.count(`${where}.users`, it.users),
    run: stateShape.count(`${where}.run`, it.run),
  };
}
