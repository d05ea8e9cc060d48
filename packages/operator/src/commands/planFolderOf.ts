import { join } from "node:path";
import type { PlanTarget } from "../publisher/plan/plan.ts";

/** Where the project keeps a registry's unfinished plan. The first block tells throw-away chains apart. */
export function planFolderOf({ chainId, genesisHash, contract }: PlanTarget, projectRoot: string): string {
  return join(projectRoot, ".keyroot", "plans", `${chainId}-${genesisHash.slice(2, 10)}-${contract}`);
}
