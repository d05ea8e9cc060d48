import { randomUUID } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import { ArgumentError } from "keyroot/errors";
import type { Database } from "../store/database.ts";
import { publisherLeases } from "../store/tables.ts";

/** The one lease that there is. */
const NAME = "publisher";
/** How long a publisher that says nothing keeps the lease. */
const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;

/** What a transaction of the home database does on behalf of the publisher. */
export type Fenced = <T>(work: (transaction: Database) => Promise<T>) => Promise<T>;

/**
 * Lets one publisher at a time work, among all replicas: by a row of the home database that expires by the database's own
 * clock, with a number that grows with every holder. A holder that was asleep while another took over finds its number
 * old, and writes nothing.
 * @param work is given what to write with, and a signal that ends when the lease is lost
 * @throws ArgumentError PUBLISHER_RUNNING where another holds the lease, or took it meanwhile
 */
export async function withLease<T>(
  home: Database,
  work: (fenced: Fenced, signal: AbortSignal) => Promise<T>,
  leaseSeconds = LEASE_SECONDS,
): Promise<T> {
  const holder = randomUUID();
  const until = sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})`;
  const [taken] = await home
    .insert(publisherLeases)
    .values({ name: NAME, holder, fence: 1, until })
    .onConflictDoUpdate({
      target: publisherLeases.name,
      set: { holder, fence: sql`${publisherLeases.fence} + 1`, until },
      setWhere: sql`${publisherLeases.until} < clock_timestamp()`,
    })
    .returning();
  if (taken === undefined) throw running("Another publisher is at work.");

  const mine = and(eq(publisherLeases.name, NAME), eq(publisherLeases.fence, taken.fence));
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    const renewed = await home.update(publisherLeases).set({ until }).where(mine).returning();
    if (renewed.length === 0) lost.abort();
  };
  const timer = setInterval(
    () => {
      // A database that is away for a moment is asked again; after that the lease is another's to take.
      renew().catch(() => undefined);
    },
    Math.max(100, Math.min(RENEW_MS, (leaseSeconds * 1000) / 3)),
  );
  const fenced: Fenced = (write) =>
    home.transaction(async (transaction) => {
      // Locked until the write is done: nobody takes over in between.
      const [held] = await transaction.select().from(publisherLeases).where(mine).for("update");
      if (held === undefined) throw running("Another publisher has taken over.");
      return write(transaction);
    });
  try {
    return await work(fenced, lost.signal);
  } finally {
    clearInterval(timer);
    await home
      .update(publisherLeases)
      .set({ until: sql`clock_timestamp()` })
      .where(mine)
      .catch(() => undefined);
  }
}

function running(message: string): ArgumentError {
  return new ArgumentError("PUBLISHER_RUNNING", `${message} It publishes what is pending, too.`);
}
