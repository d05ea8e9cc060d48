import type { KeyTypeName } from "keyroot/internal/identity";
import { argumentInvalid } from "../errors.ts";
import { fetchFromHost } from "../follow/index.ts";
import { Registry } from "../publisher/chain/registry.ts";
import { keyDiffers, PublishedUsers } from "../publisher/plan/compareKeys.ts";
import { makePlan } from "../publisher/plan/makePlan.ts";
import type { ChainAndFiles } from "./chainAndFiles.ts";
import { EXIT } from "./exitCodes.ts";
import { loadRecords } from "./inputFiles.ts";
import { describeError, errorToJson, printError } from "./output.ts";
import { Progress } from "./progress.ts";
import { describeEvent } from "./publishResult.ts";

/**
 * Plans the publication of the records in `--records`, and compares their keys with the keys of published users. It
 * stores and sends nothing. If keys differ, it sets the exit code and reports the error with which `publish` would end.
 * The error is printed, or with `--json` returned.
 */
export async function planRecords(
  args: { records: string; usersPerFile: number; keyType: KeyTypeName; json: boolean },
  chainAndFiles: ChainAndFiles,
) {
  await chainAndFiles.verifyChainId();
  const registry = await Registry.connect(chainAndFiles.call, chainAndFiles.contract);
  using progress = new Progress();
  const records = await loadRecords(args, progress);
  const publishedUsers = new PublishedUsers();
  let alreadyPublished = 0;
  const plan = await makePlan(records, registry, {
    usersPerFile: args.usersPerFile,
    onAlreadyPublished: (users, positions) => {
      alreadyPublished += users.length;
      publishedUsers.add(users, positions, () => true);
    },
    onProgress: (stage, done, users) => {
      progress.update(stage, done, users);
    },
  });
  const differing = await publishedUsers.compare(records, {
    fetchFile: fetcherOf(chainAndFiles),
    keyType: records.keyType,
    lineOf: (userID) => records.lineOf(userID),
    emit: (event) => {
      const line = describeEvent(event);
      if (line !== undefined) printError(line);
    },
  });
  if (differing.length === 0) return { registry, plan, alreadyPublished, differing };
  const error = keyDiffers(differing);
  process.exitCode = EXIT.false;
  if (!args.json) printError(describeError(error));
  return { registry, plan, alreadyPublished, differing, error: errorToJson(error) };
}

/** Without a file host, published keys are compared only with roots that the records give themselves. */
function fetcherOf(chainAndFiles: ChainAndFiles): ReturnType<typeof fetchFromHost> {
  const { allowHttp, merkleUrlIfAny } = chainAndFiles;
  if (merkleUrlIfAny !== undefined) return fetchFromHost(merkleUrlIfAny, { allowHttp });
  return () => Promise.reject(argumentInvalid("--merkle-url is missing."));
}
