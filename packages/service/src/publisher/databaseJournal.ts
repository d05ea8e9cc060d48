import { and, asc, desc, eq, lte } from "../api/database/drizzle.ts";
import type { Region } from "keyroot/internal/identity";
import {
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

/** Functions that the journal calls when it changes. If one of them throws an error, the publishing round ends. */
export interface JournalHandlers {
  /** Receives each plan after it is stored and before its first transaction is sent. */
  onPlan: (plan: Plan) => Promise<void>;
  /** Receives a batch's root before its first transaction is recorded and sent. */
  onFirstAttempt: (root: string) => Promise<void>;
}

/** A region's plan and its attempts in the home database. Only the holder of the publisher's lease can write. */
export interface DatabaseJournal extends Journal {
  /** Replaces the unfinished plan with a part of it. The recorded attempts are kept. */
  replacePlan: (plan: Plan) => Promise<void>;
}

export async function openJournal(
  home: Database,
  fenced: Fenced,
  region: Region,
  { onPlan, onFirstAttempt }: JournalHandlers,
): Promise<DatabaseJournal> {
  const planOfRegion = eq(plans.region, region);
  // Cost limits count the owner's transactions in all regions.
  const rows = await home.select().from(attempts).orderBy(asc(attempts.id));
  const recorded = rows.map(({ attempt }) => parseAttempt(attempt));
  const textOf = (plan: Plan) => [...serializePlan(plan)].join("");
  return {
    async readPlan() {
      const [row] = await home.select().from(plans).where(planOfRegion);
      return row && parsePlan(new TextEncoder().encode(row.plan));
    },

    async writePlan(plan) {
      const text = textOf(plan);
      await fenced(async (transaction) => {
        await transaction
          .insert(plans)
          .values({ region, plan: text })
          .onConflictDoUpdate({ target: plans.region, set: { plan: text } });
      });
      await onPlan(plan);
    },

    async replacePlan(plan) {
      await fenced(async (transaction) => {
        if (plan.batches.length === 0) await transaction.delete(plans).where(planOfRegion);
        else
          await transaction
            .update(plans)
            .set({ plan: textOf(plan) })
            .where(planOfRegion);
      });
    },

    async recordAttempt(attempt) {
      if (!recorded.some(({ root }) => root === attempt.root)) await onFirstAttempt(attempt.root);
      await fenced(async (transaction) => {
        await transaction.insert(attempts).values({ region, attempt: serializeAttempt(attempt) });
      });
      recorded.push(attempt);
    },

    attempts: () => recorded,

    async finish() {
      const kept = countKeptAttempts(recorded);
      await fenced(async (transaction) => {
        const ofRegion = eq(attempts.region, region);
        const [newestDropped] = await transaction
          .select({ id: attempts.id })
          .from(attempts)
          .where(ofRegion)
          .orderBy(desc(attempts.id))
          .offset(kept)
          .limit(1);
        await transaction.delete(attempts).where(and(ofRegion, lte(attempts.id, newestDropped?.id ?? 0)));
        await transaction.delete(plans).where(planOfRegion);
      });
      recorded.splice(0, recorded.length - kept);
    },
  };
}
