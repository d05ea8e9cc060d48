import { randomUUID } from "node:crypto";
import { and, eq, sql } from "../api/database/drizzle.ts";
import { ArgumentError } from "../api/base/errors.ts";
import type { Database } from "../api/database/database.ts";
import { publisherLeases } from "./tables.ts";

/** The name of the only lease. */
const NAME = "publisher";
/** Duration of the lease after the last renewal, in seconds. */
const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;

/** Runs a transaction of the home database. No other publisher can take the lease during the transaction. */
export type Fenced = <T>(work: (transaction: Database) => Promise<T>) => Promise<T>;

/**
 * Runs `work` with the publisher's lease, a row in the home database that expires by the database's clock. Each holder
 * gets a greater fencing token than the previous one. From then on, later writes of the previous holder are rejected.
 * @param work receives a function that runs fenced transactions, and a signal that aborts when the lease is lost
 * @throws ArgumentError PUBLISHER_RUNNING if another publisher holds the lease, or took it during `work`
 */
export async function withLease<T>(
  home: Database,
  work: (fenced: Fenced, signal: AbortSignal) => Promise<T>,
  leaseSeconds = LEASE_SECONDS,
): Promise<T> {
  const holder = randomUUID();
  const until = sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})`;
  const [lease] = await home
    .insert(publisherLeases)
    .values({ name: NAME, holder, fence: 1, until })
    .onConflictDoUpdate({
      target: publisherLeases.name,
      set: { holder, fence: sql`${publisherLeases.fence} + 1`, until },
      setWhere: sql`${publisherLeases.until} < clock_timestamp()`,
    })
    .returning();
  if (lease === undefined) throw publisherRunning("Another publisher holds the lease.");

  // Fencing tokens alone are not enough, because a restored database issues the same tokens again.
  const isOurs = and(
    eq(publisherLeases.name, NAME),
    eq(publisherLeases.fence, lease.fence),
    eq(publisherLeases.holder, holder),
  );
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    const renewed = await home.update(publisherLeases).set({ until }).where(isOurs).returning();
    if (renewed.length === 0) lost.abort();
  };
  const timer = setInterval(
    () => {
      // A failed renewal is tried again later. If the database stays unreachable, the lease expires.
      renew().catch(() => undefined);
    },
    Math.max(100, Math.min(RENEW_MS, (leaseSeconds * 1000) / 3)),
  );
  const fenced: Fenced = (write) =>
    home.transaction(async (transaction) => {
      // The row lock prevents other publishers from taking the lease before the transaction ends.
      const [held] = await transaction.select().from(publisherLeases).where(isOurs).for("update");
      if (held === undefined) throw publisherRunning("Another publisher took the lease.");
      return write(transaction);
    });
  try {
    return await work(fenced, lost.signal);
  } finally {
    clearInterval(timer);
    await home
      .update(publisherLeases)
      .set({ until: sql`clock_timestamp()` })
      .where(isOurs)
      .catch(() => undefined);
  }
}

/** Whether a replica holds the publisher's lease. */
export async function isPublishing(home: Database): Promise<boolean> {
  const held = await home
    .select()
    .from(publisherLeases)
    .where(sql`${publisherLeases.until} > clock_timestamp()`);
  return held.length > 0;
}

function publisherRunning(message: string): ArgumentError {
  return new ArgumentError("PUBLISHER_RUNNING", `${message} It also publishes the keys that are pending now.`);
}

/** Whether an error means that another publisher holds the lease, which is normal with several replicas. */
export function isPublisherRunning(error: unknown): boolean {
  return error instanceof ArgumentError && error.code === "PUBLISHER_RUNNING";
}
