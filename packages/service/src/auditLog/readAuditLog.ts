import { and, desc, eq, gte, lt, lte, type SQL, sql } from "../api/database/drizzle.ts";
import { z } from "zod";
import type { UserID } from "keyroot/internal/identity";
import type { Action } from "./recordChange.ts";
import type { ActorKind } from "../api/base/author.ts";
import {
  type Database,
  type Databases,
  distinctDatabases,
  type Place,
  PLACES,
  rowsOf,
} from "../api/database/database.ts";
import { auditEntries } from "./tables.ts";

/** An entry of the audit log: a change, its author and the author's request. */
export type AuditEntry = Omit<typeof auditEntries.$inferSelect, "position">;

/** Filters for listed entries. Undefined fields do not filter. */
export interface AuditFilter {
  bizID?: string | undefined;
  userID?: UserID | undefined;
  action?: Action | undefined;
  actorKind?: ActorKind | undefined;
  actorID?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** A position in the list of entries, which is sorted by time and place, the latest entries first. */
export const auditCursorSchema = z.strictObject({
  at: z.int().nonnegative(),
  place: z.enum(PLACES),
  position: z.int().nonnegative(),
});
export type AuditCursor = z.output<typeof auditCursorSchema>;

/** Maximum number of entries that a request reads per database. */
const MAX_READ = 10_000;
/** Maximum number of rows per statement that deletes. */
const DELETED_AT_ONCE = 5_000;
/** Maximum number of such statements per database and call. */
const MAX_STATEMENTS = 100;

/** Reads the audit log of all databases and deletes expired entries. */
export class AuditLog {
  readonly #databases: ReadonlyMap<Place, Database>;

  constructor(databases: Databases) {
    this.#databases = distinctDatabases(databases);
  }

  /**
   * Lists one page of entries, newest first. Each call reads a limited number of entries. Therefore a page may be short
   * or even empty although more entries follow.
   * @returns `next` is null when no page follows
   */
  async list(filter: AuditFilter, after: AuditCursor | undefined, limit: number) {
    const pages = await Promise.all(
      [...this.#databases].map(([place, database]) => readPage(database, place, filter, after, limit)),
    );
    const found = pages.flatMap(({ found }) => found).sort(inOrder);
    // If more must be read to fill a database's part of the page, its `end` is the last entry that was read. The page
    // stops at the first of these ends.
    const [end] = pages.flatMap(({ end }) => end ?? []).sort(inOrder);
    const complete = end === undefined ? found : found.filter((item) => inOrder(item, end) <= 0);
    const page = complete.slice(0, limit);
    const last = complete.length >= limit ? page.at(-1) : end;
    const next = last && { at: last.at, place: last.place, position: last.position };
    return { entries: page.map(({ entry }) => entry), next: next ?? null };
  }

  /**
   * Deletes entries older than `before`, oldest first, until `signal` aborts. Two replicas can call this at the same
   * time.
   */
  drop(before: number, signal?: AbortSignal): Promise<void> {
    return this.#change(sql`delete from audit_entries`, sql`at < ${before}::bigint`, signal);
  }

  /** Deletes the IP addresses in entries older than `before`, as `drop` deletes entries. */
  dropAddresses(before: number, signal?: AbortSignal): Promise<void> {
    const isOld = sql`at < ${before}::bigint and address is not null`;
    return this.#change(sql`update audit_entries set address = null`, isOld, signal);
  }

  async #change(change: SQL, isOld: SQL, signal?: AbortSignal): Promise<void> {
    for (const database of this.#databases.values())
      for (let i = 0; i < MAX_STATEMENTS && signal?.aborted !== true; i++) {
        const changed = await database.transaction(async (transaction) => {
          // Without the `keyroot.audit_retention` setting, a trigger rejects the change.
          await transaction.execute(sql`select set_config('keyroot.audit_retention', 'on', true)`);
          return transaction.execute(sql`${change} where position in (
            select position from audit_entries where ${isOld}
            order by at, position limit ${DELETED_AT_ONCE} for update skip locked) returning 1`);
        });
        if (rowsOf(changed).length < DELETED_AT_ONCE) break;
      }
  }
}

interface Item extends AuditCursor {
  entry: AuditEntry;
}

/**
 * Reads one database's part of a page. If more entries must be read to fill the page, `end` is the last one that was
 * read.
 */
async function readPage(
  database: Database,
  place: Place,
  { bizID, userID, since, until, action, actorKind, actorID }: AuditFilter,
  after: AuditCursor | undefined,
  limit: number,
): Promise<{ found: Item[]; end?: AuditCursor }> {
  const { at, position } = auditEntries;
  // The table has three indexes in the order of the list: for all entries, by partner and by user.
  const selected = and(
    bizID === undefined ? undefined : eq(auditEntries.bizID, bizID),
    userID === undefined ? undefined : eq(auditEntries.userID, userID),
    since === undefined ? undefined : gte(at, since),
    until === undefined ? undefined : lt(at, until),
    after && isAfter(after, place),
  );
  const read = () => database.select().from(auditEntries).where(selected).orderBy(desc(at), desc(position)).$dynamic();
  const part = read().limit(MAX_READ).as("part");
  const matching = and(
    action === undefined ? undefined : eq(part.action, action),
    actorKind === undefined ? undefined : eq(part.actorKind, actorKind),
    actorID === undefined ? undefined : eq(part.actorID, actorID),
  );
  const rows = await database
    .select()
    .from(part)
    .where(matching)
    .orderBy(desc(part.at), desc(part.position))
    .limit(limit);
  const found = rows.map(({ position, ...entry }) => ({ at: entry.at, place, position, entry }));
  if (matching === undefined || rows.length === limit) return { found };
  // Read the end after the first query. If entries are added between the two queries, the end becomes a newer entry, so
  // no entry is skipped.
  const [end] = await read()
    .offset(MAX_READ - 1)
    .limit(1);
  return end === undefined ? { found } : { found, end: { at: end.at, place, position: end.position } };
}

function isAfter(cursor: AuditCursor, place: Place): SQL {
  const { at, position } = auditEntries;
  if (place === cursor.place) return sql`(${at}, ${position}) < (${cursor.at}::bigint, ${cursor.position}::bigint)`;
  return isBefore(place, cursor.place) ? lt(at, cursor.at) : lte(at, cursor.at);
}

function inOrder(a: AuditCursor, b: AuditCursor): number {
  if (a.at !== b.at) return b.at - a.at;
  if (a.place !== b.place) return isBefore(a.place, b.place) ? -1 : 1;
  return b.position - a.position;
}

function isBefore(a: Place, b: Place): boolean {
  return PLACES.indexOf(a) < PLACES.indexOf(b);
}
