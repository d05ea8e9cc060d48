import { setFlagsFromString } from "node:v8";
import { Registry } from "../publisher/chain/registry.ts";
import { fetchFromHost } from "../follow/index.ts";
import { openStore } from "../publisher/files/openStore.ts";
import { FolderJournal } from "../publisher/journal/folderJournal.ts";
import { keyDiffers } from "../publisher/plan/compareKeys.ts";
import { planTargetOf } from "../publisher/plan/makePlan.ts";
import { countUsers } from "../publisher/plan/plan.ts";
import { serializePlan } from "../publisher/plan/planFormat.ts";
import { publish } from "../publisher/publish.ts";
import type { PublishEvent } from "../publisher/publishEvents.ts";
import type { PublishOptions } from "../publisher/publishOptions.ts";
import { executeBySafe, USERS_PER_SAFE_TRANSACTION } from "../publisher/safe/executeBySafe.ts";
import { openSigner } from "../publisher/signers/openSigner.ts";
import { signingSender } from "../publisher/signers/signer.ts";
import { costLimitsOf } from "./costOptions.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { loadRecords, skippedLine } from "./inputFiles.ts";
import { EXIT } from "./exitCodes.ts";
import { describeError, errorToJson, printError, printJson, shellCommand } from "./output.ts";
import { plural } from "../plural.ts";
import { nodeFetch } from "../http/nodeFetch.ts";
import { planRecords } from "./planRecords.ts";
import { dateOf, planFolderOf } from "./unfinishedPlan.ts";
import { Progress } from "./progress.ts";
import { PublishBar } from "./publishBar.ts";
import { describeResult, eventToJson, summaryOf } from "./publishResult.ts";
import { ChainAndFiles } from "./chainAndFiles.ts";

type Args = ArgsOf<"publish">;

/** `keyroot publish`: stores the files of users' keys, adds the files' roots to the registry, and verifies every key. */
export default async function publishKeys(args: Args, host: Host): Promise<Outcome | undefined> {
  const { planOnly, safeTransactions, json } = args;
  // Keep the memory for short-lived objects small. A larger memory takes 100 MB more for a million users and saves no
  // time (`bench/publish.ts`).
  setFlagsFromString("--semi-space-growth-factor=1");
  // Collect garbage in one thread, because parallel threads take more processor time.
  setFlagsFromString("--no-parallel-scavenge");
  const usersPerFile =
    safeTransactions === undefined ? args.usersPerFile : Math.min(args.usersPerFile, USERS_PER_SAFE_TRANSACTION);
  const options = optionsOf(args);
  const chainAndFiles = await ChainAndFiles.resolve(args, host, { fetch: nodeFetch });
  const { contract } = chainAndFiles;
  if (planOnly) return showPlan(args, chainAndFiles);
  const { merkleUrl, chainId } = chainAndFiles;
  const limits = costLimitsOf(args, chainAndFiles);
  const store = await openStore(chainAndFiles.files, args);
  await chainAndFiles.verifyChainId();
  const registry = await Registry.connect(chainAndFiles.call, contract);
  const signer = await openSigner(host.environment, chainAndFiles.allowHttp);
  const planTarget = await planTargetOf(registry);
  using journal = await FolderJournal.open(args.plan ?? planFolderOf(planTarget, host.root));
  using progress = new Progress({
    onInterrupt: () => {
      reportInterruption(host, json);
    },
    ...(!json && { printLine: printError }),
  });
  const { records, bad } = await loadRecords(args, progress);
  const bar = new PublishBar(progress);
  const result = await publish(records, {
    registry,
    chainId,
    limits,
    store,
    ...(safeTransactions === undefined
      ? { send: signer && signingSender(signer, { ...planTarget, chainId }, chainAndFiles.call) }
      : { execute: bySafe(safeTransactions, registry, bar, json) }),
    journal,
    usersPerFile,
    keyType: records.keyType,
    fetchFile: fetchFromHost(merkleUrl, { allowHttp: chainAndFiles.allowHttp }),
    ...options,
    onProgress: (stage, done, users) => {
      if (bar.show(stage, done, users) && json) printJson({ event: "stage", stage, users });
    },
    onEvent: (event) => {
      bar.take(event);
      if (json) printJson(eventToJson(event));
      else if (event.event === "waiting") printError(`Waiting: ${event.reason}.`);
      else if (event.event === "resumed") printError(describeResumed(event));
      else if (event.event === "rebuilt") printError(`Rebuilt ${event.root}.json, which was missing from the store.`);
      else if (event.event === "withoutRecord") printError(describeWithoutRecord(event));
      else if (event.event === "reverted") printError(describeReverted(event));
      else if (event.event === "replanned") printError(describeReplanned(event));
      else if (event.event === "notCompared") printError(describeNotCompared(event));
    },
  });
  const summary = { ...summaryOf(result), contract, skipped: bad };
  const text = describeResult(result, bad);
  if (result.differing.length === 0) return { json: summary, text };
  // Everything else is published. The command still fails, because these records are not.
  const error = keyDiffers(result.differing);
  process.exitCode = EXIT.false;
  if (!json) printError(describeError(error));
  return { json: { ...summary, error: errorToJson(error) }, text };
}

/** `--safe-transactions`: writes transactions that the owners of a Safe sign. */
function bySafe(
  dir: string,
  registry: Registry,
  bar: PublishBar,
  json: boolean,
): NonNullable<PublishOptions["execute"]> {
  return (batches, plan) =>
    executeBySafe(batches, plan, {
      dir,
      now: () => Date.now(),
      getMerkleTreeRoots: (userIDs) => registry.getMerkleTreeRoots(userIDs),
      onFiles: (paths) => {
        if (json) printJson({ event: "exported", files: paths });
        else printError(["Load these files in the Safe's Transaction Builder:", ...paths].join("\n  "));
      },
      onProgress: (done, users) => {
        bar.show("waiting for the Safe", done, users);
      },
    });
}

/** `--plan-only`: prints the plan. Stores and sends nothing. */
async function showPlan(args: Args, chainAndFiles: ChainAndFiles): Promise<Outcome | undefined> {
  const { plan, alreadyPublished, bad } = await planRecords(args, chainAndFiles);
  if (args.json) {
    for (const line of serializePlan(plan)) process.stdout.write(line);
    return undefined;
  }
  const lines = plan.batches.map(({ root, users, fileBytes }) => {
    return `${root}  ${plural(users, "user")}, file of ${plural(fileBytes, "byte")}`;
  });
  const users = plural(countUsers(plan.batches), "user");
  const sum = `${users} to publish in ${plural(plan.batches.length, "transaction")}, ${alreadyPublished} already published.`;
  return { json: {}, text: [...lines, sum, ...skippedLine(bad)].join("\n") };
}

function optionsOf({ inFlight, confirmations, finalized, timeout }: Args) {
  return {
    finality: finalized ? ("finalized" as const) : { confirmations },
    sending: {
      inFlight,
      timeoutMs: timeout * 1000,
    },
  };
}

function describeResumed({ plannedAt, added, batches }: Extract<PublishEvent, { event: "resumed" }>): string {
  return `Resuming the plan${plannedAt === undefined ? "" : ` of ${dateOf(plannedAt)}`}: ${added} of ${plural(batches, "root")} added.`;
}

function describeReverted({ hash, blockNumber, root }: Extract<PublishEvent, { event: "reverted" }>): string {
  return `The transaction ${hash} in block ${blockNumber} was reverted. The root ${root} is added in another transaction.`;
}

function describeReplanned({ batches }: Extract<PublishEvent, { event: "replanned" }>): string {
  return `Some batches no longer fit into a transaction. The plan was divided, and now has ${plural(batches, "root")}.`;
}

function describeNotCompared({ root, users, code, message }: Extract<PublishEvent, { event: "notCompared" }>): string {
  return `Warning: the published keys of ${plural(users, "user")} with the root ${root} were not compared with the records. ${code}: ${message}`;
}

function describeWithoutRecord({ users, userIDs }: { users: number; userIDs: readonly string[] }): string {
  const more = users > userIDs.length ? ` and ${users - userIDs.length} more` : "";
  const who = `${plural(users, "user")} who ${users === 1 ? "is" : "are"} not in the records`;
  return `Warning: the unfinished plan also publishes keys of ${who}: ${userIDs.join(", ")}${more}.`;
}

function reportInterruption({ invocation }: Host, json: boolean): void {
  const resume = shellCommand(invocation);
  if (json) printJson({ event: "interrupted", resume });
  else printError(`Interrupted. Finished work is saved. To resume:\n  ${resume}`);
}
