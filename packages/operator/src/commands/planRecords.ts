import type { KeyTypeName } from "keyroot/internal/identity";
import { Registry } from "../publisher/chain/registry.ts";
import { makePlan } from "../publisher/plan/makePlan.ts";
import type { ChainAndFiles } from "./chainAndFiles.ts";
import { loadRecords } from "./inputFiles.ts";
import { Progress } from "./progress.ts";

/** Reads the records in `--records`, and plans their publication. Stores and sends nothing. */
export async function planRecords(
  args: { records: string; usersPerFile: number; keyType: KeyTypeName },
  chainAndFiles: ChainAndFiles,
) {
  await chainAndFiles.verifyChainId();
  const registry = await Registry.connect(chainAndFiles.call, chainAndFiles.contract);
  using progress = new Progress();
  const records = await loadRecords(args, progress);
  let alreadyPublished = 0;
  const plan = await makePlan(records, registry, {
    usersPerFile: args.usersPerFile,
    onAlreadyPublished: (users) => (alreadyPublished += users.length),
    onProgress: (stage, done, users) => {
      progress.update(stage, done, users);
    },
  });
  return { registry, plan, alreadyPublished };
}
