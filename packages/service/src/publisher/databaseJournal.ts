import { and, asc, desc, eq, lte } from "../api/database/drizzle.ts";
import type { Region } from "keyroot/internal/identity";
import {
  type Attempt,
  countKeptAttempts,
  type Journal,
  parseAttempt,
  parsePlan,
  type Plan,
  serializeAttempt,
  serializePlan,
} from "@keyroot/operator/publisher";
import type { Database } from "../api/database/database.ts";
import { attempts, plans } from "../publishing/tables.ts";
import type { Fenced } from "../publishing/lease.ts";

/**
 * Functions that the journal calls when the journal changes. If a function throws an error, the publishing round ends.
 */
export interface JournalHandlers {
  /** Receives each plan after it is stored and before its first transaction is sent. */
  onPlan: (plan: Plan) => Promise<void>;
  /** Receives a batch's root before its first transaction is recorded and sent. */
  onFirstAttempt: (root: string) => Promise<void>;
}

/** Stores a region's plan and its attempts in the home database. Only the holder of the publisher's lease can write. */
export class DatabaseJournal implements Journal {
  readonly #home: Database;
  readonly #fenced: Fenced;
  readonly #region: Region;
  readonly #handlers: JournalHandlers;
  readonly #attempts: Attempt[];

  private constructor(home: Database, fenced: Fenced, region: Region, handlers: JournalHandlers, recorded: Attempt[]) {
    this.#home = home;
    this.#fenced = fenced;
    this.#region = region;
    this.#handlers = handlers;
    this.#attempts = recorded;
  }

  static async open(
    home: Database,
    fenced: Fenced,
    region: Region,
    handlers: JournalHandlers,
  ): Promise<DatabaseJournal> {
    // Cost limits count the owner's transactions in all regions.
    const rows = await home.select().from(attempts).orderBy(asc(attempts.id));
    return new DatabaseJournal(
      home,
      fenced,
      region,
      handlers,
      rows.map(({ attempt }) => parseAttempt(attempt)),
    );
  }

  async readPlan(): Promise<Plan | undefined> {
    const [row] = await this.#home.select().from(plans).where(eq(plans.region, this.#region));
    return row && parsePlan(new TextEncoder().encode(row.plan));
  }

  async writePlan(plan: Plan): Promise<void> {
    const text = [...serializePlan(plan)].join("");
    await this.#fenced(async (transaction) => {
      await transaction
        .insert(plans)
        .values({ region: this.#region, plan: text })
        .onConflictDoUpdate({ target: plans.region, set: { plan: text } });
    });
    await this.#handlers.onPlan(plan);
  }

  /** Replaces the unfinished plan with a part of it. The recorded attempts are kept. */
  async replacePlan(plan: Plan): Promise<void> {
    const text = [...serializePlan(plan)].join("");
    const isOfRegion = eq(plans.region, this.#region);
    await this.#fenced(async (transaction) => {
      if (plan.batches.length === 0) await transaction.delete(plans).where(isOfRegion);
      else await transaction.update(plans).set({ plan: text }).where(isOfRegion);
    });
  }

  async recordAttempt(attempt: Attempt): Promise<void> {
    if (!this.#attempts.some(({ root }) => root === attempt.root)) await this.#handlers.onFirstAttempt(attempt.root);
    await this.#fenced(async (transaction) => {
      await transaction.insert(attempts).values({ region: this.#region, attempt: serializeAttempt(attempt) });
    });
    this.#attempts.push(attempt);
  }

  attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  async finish(): Promise<void> {
    await this.#fenced(async (transaction) => {
      const oldest = await transaction
        .select({ id: attempts.id })
        .from(attempts)
        .where(eq(attempts.region, this.#region))
        .orderBy(desc(attempts.id))
        .offset(countKeptAttempts(this.#attempts))
        .limit(1);
      const before = oldest[0]?.id ?? 0;
      await transaction.delete(attempts).where(and(eq(attempts.region, this.#region), lte(attempts.id, before)));
      await transaction.delete(plans).where(eq(plans.region, this.#region));
    });
    this.#attempts.splice(0, this.#attempts.length - countKeptAttempts(this.#attempts));
  }
}
