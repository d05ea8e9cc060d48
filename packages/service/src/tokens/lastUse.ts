import { sql } from "../api/database/drizzle.ts";
import type { Database } from "../api/database/database.ts";
import type { serverTokens, userTokens } from "./tables.ts";

const HOUR_MS = 60 * 60 * 1000;
/** Time in ms for which uses of tokens are collected before a statement stores the uses. */
const DELAY_MS = 1_000;
const TOKENS_PER_STATEMENT = 1000;

/**
 * Stores the hour in which each refresh token of a table was last used, at most once per token and hour. One statement
 * per second stores the uses of many tokens, and requests do not wait for it. If a replica is killed, the uses of the
 * last second are lost.
 */
export class LastUse {
  readonly #database: Database;
  readonly #table: typeof serverTokens | typeof userTokens;
  /** The hour of the last use of each token whose use is not stored yet. */
  #noted = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #storing = Promise.resolve();

  constructor(database: Database, table: typeof serverTokens | typeof userTokens) {
    this.#database = database;
    this.#table = table;
  }

  /**
   * Notes the use of a token.
   * @param lastUsed the stored hour, or null if the token was never used
   */
  note(tokenID: string, lastUsed: number | null, now: number): void {
    const hour = now - (now % HOUR_MS);
    if (lastUsed !== null && lastUsed >= hour) return;
    this.#noted.set(tokenID, hour);
    this.#timer ??= setTimeout(() => void this.store(), DELAY_MS).unref();
  }

  /** Stores the noted uses. If the database is unreachable, the uses are lost until each token's next use. */
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
    // Skip locked rows, because another replica may lock the same tokens in a different order, and waiting could then
    // cause a deadlock. An update by physical place takes half the time of an update by id.
    const places = sql`select ctid from ${table} where ${tokenID} = any(${sql.param(ids)}::uuid[]) and ${isOlder} for no key update skip locked`;
    await this.#database
      .update(table)
      .set({ lastUsed: hour })
      .where(sql`ctid = any(array(${places}))`);
  }
}
