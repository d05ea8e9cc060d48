import { join } from "node:path";
import { planTargetOf } from "../src/publisher/makePlan.ts";
import type { Registry } from "../src/publisher/registry.ts";

/** Where the project keeps a registry's unfinished plan. The first block tells throw-away chains apart. */
export async function planFolderOf(registry: Registry, projectRoot: string): Promise<string> {
  const { chainId, genesisHash, contract } = await planTargetOf(registry);
  return join(projectRoot, ".keyroot", "plans", `${chainId}-${genesisHash.slice(2, 10)}-${contract}`);
}
