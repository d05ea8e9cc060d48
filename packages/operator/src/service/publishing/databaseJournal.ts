import { asc, eq } from "drizzle-orm";
import type { Region } from "keyroot/identity";
import { parsePlan, type Plan, serializePlan } from "../../publisher/plan/plan.ts";
import { type Attempt, type Journal, parseAttempt, serializeAttempt } from "../../publisher/journal/journal.ts";
import type { Database } from "../store/database.ts";
import { attempts, plans } from "../store/tables.ts";
import type { Fenced } from "./lease.ts";

/** Stores a region's plan and attempts in the home database. Writes are fenced by the publisher's lease. */
export class DatabaseJournal implements Journal {
  readonly #home: Database;
  readonly #fenced: Fenced;
  readonly #region: Region;
  readonly #onPlan: (plan: Plan) => Promise<void>;
  readonly #attempts: Attempt[];

  private constructor(
    home: Database,
    fenced: Fenced,
    region: Region,
    onPlan: (plan: Plan) => Promise<void>,
    recorded: Attempt[],
  ) {
    this.#home = home;
    this.#fenced = fenced;
    this.#region = region;
    this.#onPlan = onPlan;
    this.#attempts = recorded;
  }

  /** @param onPlan receives each plan after it is stored, and before any of its transactions is sent */
  static async open(
    home: Database,
    fenced: Fenced,
    region: Region,
    onPlan: (plan: Plan) => Promise<void>,
  ): Promise<DatabaseJournal> {
    const rows = await home.select().from(attempts).where(eq(attempts.region, region)).orderBy(asc(attempts.id));
    return new DatabaseJournal(
      home,
      fenced,
      region,
      onPlan,
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
      await transaction.delete(attempts).where(eq(attempts.region, this.#region));
      await transaction
        .insert(plans)
        .values({ region: this.#region, plan: text })
        .onConflictDoUpdate({ target: plans.region, set: { plan: text } });
    });
    this.#attempts.length = 0;
    await this.#onPlan(plan);
  }

  async recordAttempt(attempt: Attempt): Promise<void> {
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
      await transaction.delete(attempts).where(eq(attempts.region, this.#region));
      await transaction.delete(plans).where(eq(plans.region, this.#region));
    });
    this.#attempts.length = 0;
  }
}
