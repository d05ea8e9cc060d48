import type { PublishResult, PublishEvent } from "../publisher/publishEvents.ts";
import { describeEther } from "./describeAmounts.ts";
import { formatCount, plural } from "../plural.ts";
import { style } from "./output.ts";
import { dateOf } from "./unfinishedPlan.ts";

/** A line of `publish --json` before the report. */
export type PublishLine =
  | PublishEvent
  | { event: "stage"; stage: string; users: number }
  | { event: "exported"; files: readonly string[] }
  | { event: "interrupted"; resume: string };

/** The last line of `publish --json`. `error` is set if some records differ from published keys. */
export type PublishReport = ReturnType<typeof summaryOf> & { contract: string; error?: object };

/** Formats the result of `publish` as an object. Amounts of wei are decimal text. */
export function summaryOf({ published, alreadyPublished, superseded, differing }: PublishResult) {
  const users = published.reduce((sum, root) => sum + root.users, 0);
  const gasUsed = published.reduce((sum, root) => sum + root.gasUsed, 0);
  const cost = published.reduce((sum, root) => sum + BigInt(root.gasUsed) * root.gasPrice + root.dataFee, 0n);
  return {
    users,
    transactions: published.length,
    gasUsed,
    gasPerUser: users === 0 ? 0 : Math.round((gasUsed / users) * 10) / 10,
    costWei: String(cost),
    alreadyPublished,
    superseded,
    differing,
    published: published.map(
      ({ root, users, fileBytes, transactionHash, blockNumber, gasUsed, gasPrice, dataFee, addedCount }) => {
        const amounts = { gasUsed, gasPrice: String(gasPrice), dataFee: String(dataFee) };
        return { root, users, fileBytes, transactionHash, blockNumber, ...amounts, addedCount };
      },
    ),
  };
}

/** Describes the users of the records who were published before. @param differing how many of them have another key */
export function describePublished(alreadyPublished: number, differing: number): string {
  const others = differing === 0 ? "" : `, ${differing} of them with another key than in the records`;
  return `${formatCount(alreadyPublished)} already published${others}.`;
}

export function describeResult(result: PublishResult): string {
  const { users, transactions, gasUsed, gasPerUser, costWei, alreadyPublished, superseded, differing } =
    summaryOf(result);
  const cost = `${formatCount(gasUsed)} gas, ${gasPerUser.toLocaleString("en")} per user, ${describeEther(BigInt(costWei))}`;
  return [
    ...result.published.map(({ root, users, blockNumber, gasUsed }) => {
      return `${root}  ${plural(users, "user")} in block ${formatCount(blockNumber)}, ${formatCount(gasUsed)} gas`;
    }),
    ...superseded.map(({ userID, root }) => `${userID}  superseded: has the root ${root}, from another publisher`),
    `${style("success", "Published")} ${plural(users, "user")}, ${describePublished(alreadyPublished, differing.length)}`,
    ...(transactions === 0 ? [] : [`Verified every key. ${plural(transactions, "transaction")}, ${cost}.`]),
  ].join("\n");
}

/**
 * Describes an event in one line if a person should know about it. For events of normal progress, it returns undefined.
 */
export function describeEvent(event: PublishEvent): string | undefined {
  switch (event.event) {
    case "waiting":
      return `Waiting: ${event.reason}.`;
    case "resumed": {
      const date = event.plannedAt === undefined ? "" : ` of ${dateOf(event.plannedAt)}`;
      return `Resuming the plan${date}: ${formatCount(event.added)} of ${plural(event.batches, "root")} added.`;
    }
    case "rebuilt":
      return `Rebuilt ${event.root}.json, which was missing from the store.`;
    case "withoutRecord": {
      const { users, userIDs } = event;
      const more = users > userIDs.length ? ` and ${formatCount(users - userIDs.length)} more` : "";
      const who = `${plural(users, "user")} who ${users === 1 ? "is" : "are"} not in the records`;
      return `Warning: the unfinished plan also publishes keys of ${who}: ${userIDs.join(", ")}${more}.`;
    }
    case "reverted":
      return `The transaction ${event.hash} in block ${formatCount(event.blockNumber)} was reverted. The root ${event.root} is added in another transaction.`;
    case "replanned":
      return `Some batches no longer fit into a transaction. The plan was divided, and now has ${plural(event.batches, "root")}.`;
    case "notCompared":
      return `Warning: the published keys of ${plural(event.users, "user")} with the root ${event.root} were not compared with the records. ${event.code}: ${event.message}`;
    default:
      return undefined;
  }
}
