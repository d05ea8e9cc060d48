import { and, eq, isNotNull, isNull, or } from "../api/database/drizzle.ts";
import type { Region, UserID } from "keyroot/internal/identity";
import type { Plan, Registry } from "@keyroot/operator/publisher";
import { isAnyOf } from "../api/database/columns.ts";
import type { Database } from "../api/database/database.ts";
import { isInOpenBatch, publicKeys } from "../keys/tables.ts";
import { countShares } from "../publishing/batches.ts";
import type { DatabaseJournal } from "./databaseJournal.ts";
import { isBlocked } from "../keys/holdPeriod.ts";

/**
 * Removes keys that must no longer be published from unsent batches: the keys of deactivated users, and of suspended
 * partners' users. They become pending again, so users can withdraw them and partners can discard them. The other keys
 * of these batches are published in new batches.
 */
export async function releaseBlocked(
  database: Database,
  region: Region,
  journal: DatabaseJournal,
  registry: Registry,
): Promise<void> {
  const isTaken = or(and(isNull(publicKeys.root), isNotNull(publicKeys.submitted)), isInOpenBatch(publicKeys.root));
  const taken = await database
    .select({ userID: publicKeys.userID, root: publicKeys.root })
    .from(publicKeys)
    .where(and(eq(publicKeys.region, region), isTaken, isBlocked));
  if (taken.length === 0) return;
  const sent = new Set(journal.attempts().map(({ root }) => root));
  const unsent = taken.filter(({ root }) => root === null || !sent.has(root));
  const plan = await journal.readPlan();
  if (plan !== undefined) await journal.replacePlan(withoutUsers(plan, unsent, sent));
  // After a restore, a key may be on the chain even if its transaction is missing from the journal.
  const ids = unsent.map(({ userID }) => userID);
  const roots = await registry.getMerkleTreeRoots(ids);
  const released = ids.filter((_, i) => roots[i] === undefined);
  const which = and(isAnyOf(publicKeys.userID, released), isTaken, isBlocked);
  await database.transaction(async (transaction) => {
    await transaction.update(publicKeys).set({ root: null, submitted: null }).where(which);
    await countShares(transaction, [...new Set(unsent.flatMap(({ root }) => (root === null ? [] : [root])))]);
  });
}

/** Returns the plan without the unsent batches that contain a key of one of the users. */
function withoutUsers(plan: Plan, users: readonly { userID: UserID }[], sent: ReadonlySet<string>): Plan {
  const excluded = new Set(users.map(({ userID }) => userID));
  const isKept = ({ root, userIDs }: Plan["batches"][number]) =>
    sent.has(root) || !userIDs.some((userID) => excluded.has(userID));
  return { ...plan, batches: plan.batches.filter(isKept) };
}
