import { setFlagsFromString } from "node:v8";
import { argumentInvalid } from "../errors.ts";
import { describeValue } from "keyroot/internal/input";
import type { Registry } from "../publisher/chain/registry.ts";
import type { PublishOptions } from "../publisher/publishOptions.ts";
import { plural } from "../plural.ts";
import type { ChainAndFiles } from "./chainAndFiles.ts";
import { command, flag, integer, type Parsed, text } from "./defineCommand.ts";
import { EXIT } from "./exitCodes.ts";
import type { Host, Outcome } from "./host.ts";
import {
  besideFiles,
  chain,
  costLimits,
  files,
  FILES_OF_REGISTRY,
  maxCostOfPlan,
  merkleUrl,
  planFolder,
  recordFiles,
  REGISTRY,
} from "./options.ts";
import { describeError, errorToJson, printError, printJson, shellCommand } from "./output.ts";
import type { PublishBar } from "./publishBar.ts";
import type { PublishLine, PublishReport } from "./publishResult.ts";

const options = {
  ...recordFiles,
  files: files("Folder or s3://<bucket>/<prefix> that the file host serves"),
  ...besideFiles,
  accountFiles: text(
    "dir",
    "Folder with all users' account files, if the registry has accounts. The command then rejects records that no account's statement authorizes",
  ),
  planOnly: flag("Show the plan without storing or sending anything", {
    excludes: [
      ...["files", "brotli", "plan", "confirmations", "timeout"],
      ...["maxFee", "maxPriorityFee", "maxCost", "maxCostPerDay"],
    ],
  }),
  safeTransactions: text(
    "dir",
    "Folder for transaction files, if a Safe owns the registry. The command writes them, and waits until the Safe has executed the transactions",
    { excludes: ["maxFee", "maxPriorityFee", "maxCost", "maxCostPerDay"] },
  ),
  plan: planFolder("Folder for the plan. If a run stops early, the next run with this folder continues it"),
  ...costLimits,
  maxCost: maxCostOfPlan,
  maxCostPerDay: text("eth", "Maximum total cost in ETH of all plans within 24 hours", {
    variable: "KEYROOT_MAX_COST_PER_DAY",
  }),
  confirmations: text(
    "n",
    "Number of confirmations to wait for, including the transaction's own block. With finalized, the command waits until the blocks of the roots are finalized",
    { default: "1", variable: "KEYROOT_CONFIRMATIONS" },
  ),
  timeout: integer("seconds", "Maximum number of seconds to wait without progress. The wait for a Safe has no limit", {
    min: 1,
    default: 600,
  }),
  ...chain,
  merkleUrl,
  json: flag("Print each event and the result as one JSON object per line"),
};

type Args = Parsed<{ summary: string; options: typeof options }>;

function needs({ planOnly, safeTransactions }: Readonly<Record<string, unknown>>): string[] {
  if (planOnly === true) return REGISTRY;
  const limits = safeTransactions === undefined ? ["maxFee"] : [];
  return ["files", ...FILES_OF_REGISTRY, "chainId", ...limits];
}

export const publish = command(
  { summary: "Store the files of users' keys, then add their roots to the registry", needs, options },
  async (args, host): Promise<Outcome | undefined> => {
    const { ChainAndFiles } = await import("./chainAndFiles.ts");
    const { nodeFetch } = await import("../http/nodeFetch.ts");
    // Keep the memory for short-lived objects small. Letting it grow would take 100 MB more for a million users, and
    // save no time (`bench/publish.ts`).
    setFlagsFromString("--semi-space-growth-factor=1");
    // Collect garbage in one thread, because parallel threads take more processor time.
    setFlagsFromString("--no-parallel-scavenge");
    const finality = finalityOf(args.confirmations);
    const chainAndFiles = await ChainAndFiles.resolve(args, host, { fetch: nodeFetch });
    return args.planOnly ? showPlan(args, chainAndFiles) : publishRecords(args, finality, chainAndFiles, host);
  },
);

async function publishRecords(
  args: Args,
  finality: PublishOptions["finality"],
  chainAndFiles: ChainAndFiles,
  host: Host,
): Promise<Outcome> {
  const { Registry } = await import("../publisher/chain/registry.ts");
  const { fetchFromHost } = await import("../follow/index.ts");
  const { openStore } = await import("../publisher/files/openStore.ts");
  const { FolderJournal } = await import("../publisher/journal/folderJournal.ts");
  const { keyDiffers } = await import("../publisher/plan/compareKeys.ts");
  const { planTargetOf } = await import("../publisher/plan/makePlan.ts");
  const publisher = await import("../publisher/publish.ts");
  const { openSigner } = await import("../publisher/signers/openSigner.ts");
  const { signingSender } = await import("../publisher/signers/signer.ts");
  const { costLimitsOf } = await import("./costOptions.ts");
  const { loadRecords } = await import("./inputFiles.ts");
  const { Progress } = await import("./progress.ts");
  const { PublishBar } = await import("./publishBar.ts");
  const { describeEvent, describeResult, summaryOf } = await import("./publishResult.ts");
  const { planFolderOf } = await import("./unfinishedPlan.ts");
  const { safeTransactions, timeout, json } = args;
  const { contract, merkleUrl, chainId, allowHttp } = chainAndFiles;
  const limits = costLimitsOf(args, chainAndFiles);
  const store = await openStore(chainAndFiles.files, args);
  await chainAndFiles.verifyChainId();
  const registry = await Registry.connect(chainAndFiles.call, contract);
  const signer = await openSigner(host.environment, allowHttp);
  const planTarget = await planTargetOf(registry);
  using journal = await FolderJournal.open(args.plan ?? planFolderOf(planTarget, host.root));
  using progress = new Progress({
    onInterrupt: () => {
      reportInterruption(host, json);
    },
    ...(!json && { printLine: printError }),
  });
  const records = await loadRecords(args, progress);
  if (args.accountFiles !== undefined) {
    const { checkAuthorizedRecords } = await import("../publisher/records/authorizedRecords.ts");
    await checkAuthorizedRecords(records, args.accountFiles, { chainId, contract });
  }
  const bar = new PublishBar(progress);
  const result = await publisher.publish(records, {
    registry,
    chainId,
    limits,
    store,
    ...(safeTransactions === undefined
      ? { send: signer && signingSender(signer, { ...planTarget, chainId }, chainAndFiles.call) }
      : { execute: await bySafe(safeTransactions, registry, bar, json) }),
    journal,
    usersPerFile: await usersPerFileOf(args),
    keyType: records.keyType,
    fetchFile: fetchFromHost(merkleUrl, { allowHttp }),
    finality,
    sending: { timeoutMs: timeout * 1000 },
    onProgress: (stage, done, users) => {
      if (bar.show(stage, done, users) && json) printJson({ event: "stage", stage, users } satisfies PublishLine);
    },
    onEvent: (event) => {
      bar.take(event);
      const line = json ? undefined : describeEvent(event);
      if (json) printJson(event);
      else if (line !== undefined) printError(line);
    },
  });
  const summary: PublishReport = { ...summaryOf(result), contract };
  const text = describeResult(result);
  if (result.differing.length === 0) return { json: summary, text };
  // Everything else is published. The command still fails, because these records are not.
  const error = keyDiffers(result.differing);
  process.exitCode = EXIT.false;
  if (!json) printError(describeError(error));
  return { json: { ...summary, error: errorToJson(error) } satisfies PublishReport, text };
}

/** Returns the maximum number of users in one file. A transaction of a Safe has room for fewer. */
async function usersPerFileOf({ usersPerFile, safeTransactions }: Args): Promise<number> {
  if (safeTransactions === undefined) return usersPerFile;
  const { USERS_PER_SAFE_TRANSACTION } = await import("../publisher/safe/safeBatchFile.ts");
  return Math.min(usersPerFile, USERS_PER_SAFE_TRANSACTION);
}

/** `--safe-transactions`: writes transactions that the owners of a Safe sign. */
async function bySafe(
  dir: string,
  registry: Registry,
  bar: PublishBar,
  json: boolean,
): Promise<NonNullable<PublishOptions["execute"]>> {
  const { executeBySafe } = await import("../publisher/safe/executeBySafe.ts");
  return (batches, plan) =>
    executeBySafe(batches, plan, {
      dir,
      now: () => Date.now(),
      getMerkleTreeRoots: (userIDs) => registry.getMerkleTreeRoots(userIDs),
      onFiles: (paths) => {
        if (json) printJson({ event: "exported", files: paths } satisfies PublishLine);
        else printError(["Load these files in the Safe's Transaction Builder:", ...paths].join("\n  "));
      },
      onProgress: (done, users) => {
        bar.show("waiting for the Safe", done, users);
      },
    });
}

/** `--plan-only`: prints the plan. Stores and sends nothing. */
async function showPlan(args: Args, chainAndFiles: ChainAndFiles): Promise<Outcome | undefined> {
  const { countUsers } = await import("../publisher/plan/plan.ts");
  const { serializePlan } = await import("../publisher/plan/planFormat.ts");
  const { planRecords } = await import("./planRecords.ts");
  const { describePublished } = await import("./publishResult.ts");
  const usersPerFile = await usersPerFileOf(args);
  const { plan, alreadyPublished, differing, error } = await planRecords({ ...args, usersPerFile }, chainAndFiles);
  if (args.json) {
    for (const line of serializePlan(plan)) process.stdout.write(line);
    if (error !== undefined) printJson({ differing, error });
    return undefined;
  }
  const lines = plan.batches.map(({ root, users, fileBytes }) => {
    return `${root}  ${plural(users, "user")}, file of ${plural(fileBytes, "byte")}`;
  });
  const users = plural(countUsers(plan.batches), "user");
  const transactions = plural(plan.batches.length, "transaction");
  const sum = `${users} to publish in ${transactions}, ${describePublished(alreadyPublished, differing.length)}`;
  return { json: {}, text: [...lines, sum].join("\n") };
}

/** Reads `--confirmations`: a number, or `finalized`. @throws ArgumentError ARGUMENT_INVALID */
function finalityOf(confirmations: string): PublishOptions["finality"] {
  if (confirmations === "finalized") return confirmations;
  if (/^[1-9]\d{0,8}$/.test(confirmations)) return { confirmations: Number(confirmations) };
  throw argumentInvalid(
    `--confirmations must be a whole number of 1 or more, or finalized, not ${describeValue(confirmations)}.`,
  );
}

function reportInterruption({ invocation }: Host, json: boolean): void {
  const resume = shellCommand(invocation);
  if (json) printJson({ event: "interrupted", resume } satisfies PublishLine);
  else printError(`Interrupted. Finished work is saved. To resume:\n  ${resume}`);
}
