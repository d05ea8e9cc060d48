import type { PublishResult, PublishEvent } from "../publisher/publishEvents.ts";
import type { BadRow } from "../publisher/records/readRecords.ts";
import { skippedLine } from "./inputFiles.ts";
import { describeEther } from "./describeAmounts.ts";
import { plural } from "../plural.ts";
import { style } from "./output.ts";

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

/** Formats the result of `publish` as text. */
export function describeResult(result: PublishResult, bad: readonly BadRow[]): string {
  const { users, transactions, gasUsed, gasPerUser, costWei, alreadyPublished, superseded } = summaryOf(result);
  const cost = `${gasUsed} gas, ${gasPerUser} per user, ${describeEther(BigInt(costWei))}`;
  return [
    ...result.published.map(({ root, users, blockNumber, gasUsed }) => {
      return `${root}  ${plural(users, "user")} in block ${blockNumber}, ${gasUsed} gas`;
    }),
    ...superseded.map(({ userID, root }) => `${userID}  superseded: has the root ${root}, from another publisher`),
    `${style("success", "Published")} ${plural(users, "user")}, ${alreadyPublished} already published.`,
    ...(transactions === 0 ? [] : [`Verified every key. ${plural(transactions, "transaction")}, ${cost}.`]),
    ...skippedLine(bad),
  ].join("\n");
}

/** Converts an event to a value for JSON. */
export function eventToJson(event: PublishEvent): object {
  const fields = Object.entries(event).map(([name, value]: [string, unknown]) => {
    return [name, typeof value === "bigint" ? String(value) : value] as const;
  });
  return Object.fromEntries(fields);
}
