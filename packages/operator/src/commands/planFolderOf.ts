import { join } from "node:path";
import type { PlanTarget } from "../publisher/plan/plan.ts";

/** The folder of a registry's unfinished plan. Local chains share chain ids, so the genesis hash is part of its name. */
export function planFolderOf({ chainId, genesisHash, contract }: PlanTarget, root: string): string {
  return join(root, ".keyroot", "plans", `${chainId}-${genesisHash.slice(2, 10)}-${contract}`);
}
