import type { Region } from "keyroot/internal/identity";
import { DATABASE_NOW } from "../api/database/columns.ts";
import { type Database, type Databases, distinctRegions } from "../api/database/database.ts";
import { isNotNull, sql } from "../api/database/drizzle.ts";
import { batches } from "../keys/tables.ts";
import { isPublishing } from "./lease.ts";
import type { PublisherReport } from "./publisherReport.ts";
import { publisherReports, publishingFailures } from "./tables.ts";
import { countPublishable } from "./takePublishable.ts";

/** A root for which the chain, the file and the database differed at the last check. */
export interface Difference {
  region: Region;
  root: string;
  /** The error code of the failed check. */
  code: string;
}

/** The name of the only report. If there are several publishers, the report of the last one replaces the others. */
const NAME = "publisher";
/** Age in ms from which a report says nothing about the present. */
const SILENT_MS = 2 * 60 * 1000;
/** Assumed interval of publications without a schedule, in seconds. */
const DAY_SECONDS = 24 * 60 * 60;
/** Maximum time until the blocks of a publication are final on any chain, in seconds. */
const BATCH_SECONDS = 60 * 60;
const MAX_DIFFERENCES = 100;

/** What the service knows about its publisher, which is another process: its reports, its failures and its work. */
export class PublisherState {
  readonly #databases: Databases;
  readonly #registry: { contract: string; chainId: number };
  readonly #holdOnConflict: boolean;

  constructor(databases: Databases, registry: { contract: string; chainId: number }, holdOnConflict: boolean) {
    this.#databases = databases;
    this.#registry = registry;
    this.#holdOnConflict = holdOnConflict;
  }

  /**
   * Returns the publisher's last report. If it is more than two minutes old, the chain and the stores have the error
   * PUBLISHER_SILENT.
   * @returns `at` is null if there never was a report
   */
  async report(): Promise<PublisherReport & { at: number | null }> {
    const { at, age, report } = (await readReport(this.#databases.home)) ?? { at: null, age: Infinity };
    if (report !== undefined && age <= SILENT_MS) return { at, ...report };
    const error = "PUBLISHER_SILENT";
    const { chainId: chain_id, contract } = this.#registry;
    const stores = report?.stores.map((store) => ({ ...store, error })) ?? [];
    return { at, chain: { chain_id, contract, error, state: null }, stores, every: report?.every ?? null };
  }

  /** Whether there was no report for two minutes. */
  async isSilent(): Promise<boolean> {
    return (await this.reportAge()) * 1000 > SILENT_MS;
  }

  /** Returns the age of the last report in seconds. Infinity if there never was a report. */
  async reportAge(): Promise<number> {
    return ((await readReport(this.#databases.home))?.age ?? Infinity) / 1000;
  }

  /** Whether a publisher is publishing or comparing now. */
  isPublishing(): Promise<boolean> {
    return isPublishing(this.#databases.home);
  }

  /** Counts the keys without a published root that should have been published an hour ago. */
  async countOverdue(): Promise<number> {
    const { every } = await this.report();
    return this.countPublishable((every ?? DAY_SECONDS) + BATCH_SECONDS);
  }

  /** Counts the registered keys that would be published now. */
  countPublishable(overdueSeconds?: number): Promise<number> {
    return countPublishable(this.#databases, { holdOnConflict: this.#holdOnConflict }, overdueSeconds);
  }

  listDifferences(): Promise<Difference[]> {
    return listDifferences(this.#databases);
  }

  /** Returns the numbers of failed publications by error code. */
  async failures(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#databases.home.select().from(publishingFailures);
    return new Map(rows.map(({ code, count }) => [code, count]));
  }
}

/** Lists the differences that the last checks found. Lists at most 100 differences in each database. */
export async function listDifferences(databases: Databases): Promise<Difference[]> {
  const { root, difference } = batches;
  const pages = distinctRegions(databases).map(async (region) => {
    const found = await databases.regions[region]
      .select({ root, code: sql<string>`${difference}` })
      .from(batches)
      .where(isNotNull(difference))
      .orderBy(root)
      .limit(MAX_DIFFERENCES);
    return found.map((one) => ({ region, ...one }));
  });
  return (await Promise.all(pages)).flat();
}

/** Replaces the publisher's report. */
export async function writeReport(home: Database, report: PublisherReport): Promise<void> {
  const values = { at: DATABASE_NOW, report };
  await home
    .insert(publisherReports)
    .values({ name: NAME, ...values })
    .onConflictDoUpdate({ target: publisherReports.name, set: values });
}

/** Counts a failed publication. */
export async function countFailure(home: Database, code: string): Promise<void> {
  await home
    .insert(publishingFailures)
    .values({ code, count: 1 })
    .onConflictDoUpdate({ target: publishingFailures.code, set: { count: sql`${publishingFailures.count} + 1` } });
}

async function readReport(home: Database) {
  const { at, report } = publisherReports;
  const age = sql`${DATABASE_NOW} - ${at}`.mapWith(Number);
  return (await home.select({ at, report, age }).from(publisherReports))[0];
}
