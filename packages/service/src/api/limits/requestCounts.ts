import { and, eq, gt, inArray, lt, sql } from "../database/drizzle.ts";
import { batchingLoader } from "../database/batchingLoader.ts";
import type { Database } from "../database/database.ts";
import { rateLimits } from "./tables.ts";

/** The number of requests that all replicas counted under a name in its current minute. */
export interface RequestCount {
  requests: number;
  /** Remaining time of the minute, in ms. */
  endsInMs: number;
}

export const WINDOW_SECONDS = 60;
const WINDOW = sql`make_interval(secs => ${sql.raw(String(WINDOW_SECONDS))})`;
const ENDS_IN_MS = sql<number>`extract(epoch from ${rateLimits.expire} - clock_timestamp())::float8 * 1000`;

interface CountIncrement {
  name: string;
  requests: number;
}

/** Counts requests per minute in the home database, for all replicas. A name's minute begins with the first request. */
export class RequestCounts {
  readonly #home: Database;
  readonly #add: (increment: CountIncrement) => Promise<RequestCount>;

  constructor(home: Database) {
    this.#home = home;
    this.#add = batchingLoader(prepareIncrements(home));
  }

  /** Adds requests to a name's count. @returns the count that includes these requests and no later requests */
  add(name: string, requests: number): Promise<RequestCount> {
    return this.#add({ name, requests });
  }

  /** Subtracts requests that were added in the current minute. */
  async takeBack(name: string, requests: number): Promise<void> {
    const { key, points, expire } = rateLimits;
    await this.#home
      .update(rateLimits)
      .set({ points: sql`greatest(0, ${points} - ${requests})` })
      .where(and(eq(key, name), gt(expire, sql`clock_timestamp()`)));
  }

  async get(name: string): Promise<RequestCount> {
    const { key, points, expire } = rateLimits;
    const isValid = and(eq(key, name), gt(expire, sql`clock_timestamp()`));
    const [found] = await this.#home.select({ requests: points, endsInMs: ENDS_IN_MS }).from(rateLimits).where(isValid);
    return found ?? { requests: 0, endsInMs: WINDOW_SECONDS * 1000 };
  }

  /** Deletes each count one minute after the counted minute ends. */
  async dropExpired(): Promise<void> {
    const { key, expire } = rateLimits;
    // Skip locked rows. A request that has locked a row may itself be waiting for another row, so waiting here could
    // cause a deadlock.
    const past = this.#home
      .select({ key })
      .from(rateLimits)
      .where(lt(expire, sql`clock_timestamp() - ${WINDOW}`))
      .for("update", { skipLocked: true });
    await this.#home.delete(rateLimits).where(inArray(key, past));
  }
}

/**
 * Prepares an SQL statement that increments many counts. It uses the database's clock, because those of the replicas
 * differ.
 */
function prepareIncrements(home: Database): (increments: readonly CountIncrement[]) => Promise<RequestCount[]> {
  const { key, points, expire } = rateLimits;
  const ended = sql`${expire} <= clock_timestamp()`;
  // PostgreSQL plans a statement of this form only once, even if the arrays' lengths change.
  const added = sql`unnest((select ${sql.placeholder("names")}::text[]), (select ${sql.placeholder("requests")}::int[]))`;
  const statement = home
    .insert(rateLimits)
    .select(sql`select name, requests, clock_timestamp() + ${WINDOW} from ${added} as added(name, requests)`)
    .onConflictDoUpdate({
      target: key,
      set: {
        points: sql`case when ${ended} then excluded.points else ${points} + excluded.points end`,
        expire: sql`case when ${ended} then excluded.expire else ${expire} end`,
      },
    })
    .returning({
      name: key,
      requests: points,
      endsInMs: ENDS_IN_MS,
    })
    .prepare("add_request_counts");
  return async (increments) => {
    const sums = new Map<string, number>();
    for (const { name, requests } of increments) sums.set(name, (sums.get(name) ?? 0) + requests);
    // The names are sorted, because concurrent statements that lock the same rows in different orders could deadlock.
    const names = [...sums.keys()].sort();
    const rows = await statement.execute({ names, requests: names.map((name) => sums.get(name)) });
    const counts = new Map(rows.map(({ name, requests, endsInMs }) => [name, { requests, endsInMs }]));
    // Start with the last increment, and subtract each increment from the total. Then no count includes later
    // increments.
    return increments
      .toReversed()
      .map(({ name, requests: added }) => {
        const count = counts.get(name);
        if (count === undefined) throw new Error("The database returned no count for these requests.");
        const result = { ...count };
        count.requests -= added;
        return result;
      })
      .toReversed();
  };
}
