import { sql } from "drizzle-orm";
import type { Database } from "../database/database.ts";
import type { serverTokens, userTokens } from "./tables.ts";

const HOUR_MS = 60 * 60 * 1000;
/** The time for which uses are collected before one statement stores them, in ms. */
const DELAY_MS = 1_000;
const TOKENS_PER_STATEMENT = 1000;

/**
 * Stores the hour in which each refresh token of a table was last used. No request waits for it: uses are stored after a
 * second, in one statement for many tokens, and at most once per token and hour. A replica that is killed loses the last second.
 */
export class LastUse {
  readonly #database: Database;
  readonly #table: typeof serverTokens | typeof userTokens;
  /** The hour of each token that is not stored yet. */
  #noted = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #storing = Promise.resolve();

  constructor(database: Database, table: typeof serverTokens | typeof userTokens) {
    this.#database = database;
    this.#table = table;
  }

  /**
   * Notes that a token is used.
   * @param lastUsed the stored hour; null if the token was not used before
   * @param now milliseconds since 1970
   */
  note(tokenID: string, lastUsed: number | null, now: number): void {
    const hour = now - (now % HOUR_MS);
    if (lastUsed !== null && lastUsed >= hour) return;
    this.#noted.set(tokenID, hour);
    this.#timer ??= setTimeout(() => void this.store(), DELAY_MS).unref();
  }

  /** Stores the noted uses. If the database is unreachable, the next use of each token is noted again. */
  store(): Promise<void> {
    this.#storing = this.#storing.then(() => this.#storeNoted());
    return this.#storing;
  }

  async #storeNoted(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const noted = this.#noted;
    this.#noted = new Map();
    for (const [hour, tokens] of Map.groupBy(noted, ([, hour]) => hour)) {
      const ids = tokens.map(([tokenID]) => tokenID);
      for (let i = 0; i < ids.length; i += TOKENS_PER_STATEMENT)
        await this.#update(ids.slice(i, i + TOKENS_PER_STATEMENT), hour).catch(() => undefined);
    }
  }

  async #update(ids: readonly string[], hour: number): Promise<void> {
    const table = this.#table;
    const { tokenID, lastUsed } = table;
    const isOlder = sql`(${lastUsed} is null or ${lastUsed} < ${hour})`;
    // Skips locked rows, because another replica may lock the same tokens in another order, which could be a deadlock.
    // Finding the locked rows by their place takes half the time of finding them by their ids again.
    const places = sql`select ctid from ${table} where ${tokenID} = any(${sql.param(ids)}::uuid[]) and ${isOlder} for no key update skip locked`;
    await this.#database
      .update(table)
      .set({ lastUsed: hour })
      .where(sql`ctid = any(array(${places}))`);
  }
}
