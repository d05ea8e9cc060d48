import { and, count, desc, eq, gt, isNull, not, type SQL, sql } from "../api/database/drizzle.ts";
import type { Region } from "keyroot/internal/identity";
import { MERKLE_ROOT } from "keyroot/internal/merkle";
import { isAnyOf } from "../api/database/columns.ts";
import { type Database, type Databases, readAll, regionalDatabases } from "../api/database/database.ts";
import { batchShares, publishedDays } from "./tables.ts";
import { isOfDeactivated, isUndecided } from "../keys/holdPeriod.ts";
import { batches, publicKeys } from "../keys/tables.ts";

/** One partner's part of a batch. */
interface BatchShare {
  /** The batch's Merkle root: 64 hex digits. */
  root: string;
  region: Region;
  users: number;
  created: number;
  /** Time of the confirmation. Null before the confirmation. */
  confirmed: number | null;
  /** Hash of the transaction (0x and 64 hex digits). Null until the root is found on the chain. */
  transactionHash: string | null;
  blockNumber: number | null;
  /** The partner's share of the gas, in proportion to the number of its users. Null if unknown. */
  gas: bigint | null;
  /** The partner's share of the cost in wei, rounded down. Null if unknown. */
  cost: bigint | null;
}

/** A page of a list: the maximum number of items, and the cursor after which the page begins. */
interface PageOptions {
  after?: string | undefined;
  limit: number;
}

/** Maximum number of days in a history: about eight years. */
const MAX_DAYS = 3000;

/** The form of a batch list's cursor: the creation time, root and region of the last batch. */
export const BATCH_CURSOR = new RegExp(`^(\\d{1,15})\\.(${MERKLE_ROOT.source.slice(1, -1)})\\.([a-z0-9-]{1,20})$`);

/** Returns a partner's share of a batch's amount, in proportion to the number of its users. */
const shareOf = (amount: unknown) =>
  sql`div(${amount} * ${batchShares.users}, greatest(${batches.addedCount}, ${batchShares.users}))`;
const toBigInt = (value: unknown) => BigInt(String(value));

/** Reads partners' parts of batches, and partners' pending keys. */
export class BatchStore {
  readonly #databases: readonly Database[];
  readonly #holdOnConflict: boolean;

  /** @param holdOnConflict whether a key that conflicts with another key waits for the partner's decision */
  constructor(databases: Pick<Databases, "regions">, holdOnConflict: boolean) {
    this.#databases = regionalDatabases(databases);
    this.#holdOnConflict = holdOnConflict;
  }

  /** Lists one page of a partner's parts of batches, newest first. @param after `next` of the previous page */
  async listOfPartner(
    bizID: string,
    { after, limit }: PageOptions,
  ): Promise<{ batches: BatchShare[]; next: string | null }> {
    const { root, created, transactionHash, blockNumber, confirmed } = batches;
    const [, time = "", lastRoot = "", lastRegion = ""] = BATCH_CURSOR.exec(after ?? "") ?? [];
    const position = sql`(${created}, ${root}, ${batchShares.region})`;
    // The condition on the page's start uses only one table's columns, so PostgreSQL can use an index.
    const isNext =
      after === undefined
        ? undefined
        : sql`(${created}, ${root}) <= (${time}::bigint, ${lastRoot}) and ${position} < (${time}::bigint, ${lastRoot}, ${lastRegion})`;
    const found = await readAll(this.#databases, (database) =>
      database
        .select({
          ...{ root, region: batchShares.region, users: batchShares.users },
          ...{ created, confirmed, transactionHash, blockNumber },
          gas: shareOf(batches.gasUsed).mapWith(toBigInt),
          cost: shareOf(batches.cost).mapWith(toBigInt),
        })
        .from(batchShares)
        .innerJoin(batches, eq(batches.root, batchShares.root))
        .where(and(eq(batchShares.bizID, bizID), isNext))
        .orderBy(desc(created), desc(root), desc(batchShares.region))
        .limit(limit),
    );
    const page = found.sort((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, limit);
    const last = page.length === limit ? page.at(-1) : undefined;
    return { batches: page, next: last ? `${last.created}.${last.root}.${last.region}` : null };
  }

  /** Lists a partner's publications by day, oldest day first. */
  async history(bizID: string) {
    const { day, users, cost, unpriced } = publishedDays;
    const rows = await readAll(this.#databases, (database) =>
      database
        .select({ day, users, cost, unpriced })
        .from(publishedDays)
        .where(and(eq(publishedDays.bizID, bizID), gt(users, 0)))
        .orderBy(desc(day))
        .limit(MAX_DAYS),
    );
    const days = Map.groupBy(rows, (row) => row.day);
    const sum = [...days].map(([start, some]) => ({
      day: start,
      users: some.reduce((total, row) => total + row.users, 0),
      cost: some.reduce((total, row) => total + row.cost, 0n),
      unpriced: some.reduce((total, row) => total + row.unpriced, 0),
    }));
    return sum.sort((a, b) => a.day - b.day);
  }

  /** Counts a partner's keys that are in no batch, without the keys of deactivated users, which are never published. */
  async countPending(bizID: string, now: number): Promise<Record<"waiting" | "undecided" | "ready", number>> {
    const undecided = this.#pendingUndecided();
    const isWaiting = sql`${publicKeys.submitted} is null and ${publicKeys.holdEndsAt} > ${now}`;
    const rows = await readAll(this.#databases, (database) =>
      database
        .select({
          all: count(),
          undecided: sql`count(*) filter (where ${undecided})`.mapWith(Number),
          waiting: sql`count(*) filter (where not ${undecided} and ${isWaiting})`.mapWith(Number),
        })
        .from(publicKeys)
        .where(and(eq(publicKeys.bizID, bizID), isNull(publicKeys.root), not(isOfDeactivated))),
    );
    const total = (key: "all" | "undecided" | "waiting") => rows.reduce((sum, row) => sum + row[key], 0);
    const counts = { undecided: total("undecided"), waiting: total("waiting") };
    return { ...counts, ready: total("all") - counts.undecided - counts.waiting };
  }

  /** The condition that no publisher took a key, and that the key waits for the partner's decision. */
  #pendingUndecided(): SQL {
    return sql`(${publicKeys.submitted} is null and ${isUndecided(this.#holdOnConflict)})`;
  }
}

/** Counts each partner's users in the batches again. @param transaction the transaction that changed the keys' roots */
export async function countShares(transaction: Database, roots: readonly string[]): Promise<void> {
  // Lock the batches first. Concurrent transactions that count or change a batch then run one after the other.
  await transaction
    .select({ root: batches.root })
    .from(batches)
    .where(isAnyOf(batches.root, roots))
    .orderBy(batches.root)
    .for("no key update");
  await transaction.delete(batchShares).where(isAnyOf(batchShares.root, roots));
  await transaction.insert(batchShares).select(
    transaction
      .select({
        root: sql<string>`${publicKeys.root}`.as("root"),
        bizID: publicKeys.bizID,
        region: publicKeys.region,
        users: sql<number>`count(*)::integer`.as("users"),
      })
      .from(publicKeys)
      .where(isAnyOf(publicKeys.root, roots))
      .groupBy(publicKeys.root, publicKeys.bizID, publicKeys.region),
  );
}

function isBefore(a: BatchShare, b: BatchShare): boolean {
  if (a.created !== b.created) return a.created > b.created;
  return a.root === b.root ? a.region > b.region : a.root > b.root;
}
