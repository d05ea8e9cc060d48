import type { UserID } from "keyroot/identity";
import type { Cursor } from "./history.ts";
import { invalidState, readSealed, stateShape, writeSealed } from "./sealedFile.ts";
import { type AuditPlace, readCursor } from "./state.ts";

const FORMAT = "keyroot-watch-v1";
/** So many blocks are remembered to find where a chain that was reorganised parted. */
const MAX_CURSORS = 64;
const MAX_USERS = 1_000_000;
const HASH = /^[0-9a-f]{64}$/;

/** What a watch remembers from one look to the next. */
export class WatchState {
  readonly #path: string | undefined;
  readonly #place: AuditPlace;
  /** Blocks up to which every root was looked at, the newest last. */
  cursors: Cursor[] = [];
  /** The roots that the watched users have. */
  readonly roots = new Map<UserID, string>();
  /** Roots whose files were missing, or none of theirs: to be looked at until that is mended. */
  readonly suspects = new Set<string>();

  private constructor(path: string | undefined, place: AuditPlace) {
    this.#path = path;
    this.#place = place;
  }

  /**
   * @param path where it is kept; undefined for no longer than the process runs
   * @throws ArgumentError STATE_INVALID; TransportError FILE_UNREADABLE
   */
  static async open(path: string | undefined, place: AuditPlace, fresh = false): Promise<WatchState> {
    const state = new WatchState(path, place);
    if (path !== undefined && !fresh) {
      await readSealed(path, (content) => {
        state.#read(content);
      });
    }
    return state;
  }

  /** Notes that every root up to a block was looked at. */
  moveTo(cursor: Cursor): void {
    this.cursors = [...this.cursors.filter(({ number }) => number < cursor.number), cursor].slice(-MAX_CURSORS);
  }

  /** Writes it down. @throws TransportError FILE_UNWRITABLE */
  async save(): Promise<void> {
    if (this.#path === undefined) return;
    const roots = Array.from(this.roots, ([userID, root]) => ({ userID, root }));
    const { cursors } = this;
    await writeSealed(this.#path, { format: FORMAT, ...this.#place, cursors, roots, suspects: [...this.suspects] });
  }

  #read(content: unknown): void {
    const keys = ["format", "chainId", "genesis", "contract", "cursors", "roots", "suspects"];
    const it = stateShape.object("content", content, keys);
    const { chainId, genesis, contract } = this.#place;
    const expected = [FORMAT, chainId, genesis, contract];
    if (keys.slice(0, 4).some((key, i) => it[key] !== expected[i])) {
      throw invalidState(`It is no watch of ${contract} on chain ${chainId}.`);
    }
    this.cursors = stateShape.list("cursors", it["cursors"], MAX_CURSORS, readCursor);
    for (const { userID, root } of stateShape.list("roots", it["roots"], MAX_USERS, readRoot)) {
      this.roots.set(userID, root);
    }
    for (const root of stateShape.list("suspects", it["suspects"], MAX_USERS, readHash)) this.suspects.add(root);
  }
}

function readRoot(where: string, value: unknown): { userID: UserID; root: string } {
  const { userID, root } = stateShape.object(where, value, ["userID", "root"]);
  return { userID: stateShape.text(`${where}.userID`, userID), root: readHash(`${where}.root`, root) };
}

function readHash(where: string, value: unknown): string {
  return stateShape.text(where, value, HASH);
}
