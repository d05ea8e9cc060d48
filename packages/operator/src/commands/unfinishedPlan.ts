import { existsSync } from "node:fs";
import { join } from "node:path";
import { ArgumentError } from "../errors.ts";
import type { Registry } from "../publisher/chain/registry.ts";
import { FolderJournal } from "../publisher/journal/folderJournal.ts";
import { findUnpublishedBatches } from "../publisher/plan/findUnpublished.ts";
import { planTargetOf } from "../publisher/plan/makePlan.ts";
import { countUsers, type PlanTarget, registryKeyOf } from "../publisher/plan/plan.ts";

/** An unfinished plan. While `publish` uses the plan, the other fields are unknown. */
export type UnfinishedPlan =
  | { folder: string; isRunning: true }
  | {
      folder: string;
      isRunning: false;
      /** The time of the plan in ISO 8601. Null for plans of versions before 0.3.0. */
      plannedAt: string | null;
      roots: number;
      /** The number of roots that are already on the chain. */
      added: number;
      users: number;
    };

export function planFolderOf(target: PlanTarget, root: string): string {
  return join(root, ".keyroot", "plans", registryKeyOf(target));
}

/** Formats a time in ISO 8601. @param time in milliseconds since 1970 */
export function dateOf(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Finds the registry's unfinished plan. @returns undefined if there is none @throws the errors of `FolderJournal.open` */
export async function findUnfinishedPlan(
  registry: Registry,
  root: string,
  given: string | undefined,
): Promise<UnfinishedPlan | undefined> {
  const folder = given ?? planFolderOf(await planTargetOf(registry), root);
  if (!existsSync(folder)) return undefined;
  try {
    using journal = await FolderJournal.open(folder);
    const plan = await journal.readPlan();
    if (plan === undefined) return undefined;
    const { batches, plannedAt } = plan;
    const added = batches.length - (await findUnpublishedBatches(registry, batches)).length;
    const counts = { roots: batches.length, added, users: countUsers(batches) };
    return { folder, isRunning: false, plannedAt: plannedAt === undefined ? null : dateOf(plannedAt), ...counts };
  } catch (error) {
    if (error instanceof ArgumentError && error.code === "PUBLISHER_RUNNING") return { folder, isRunning: true };
    throw error;
  }
}
