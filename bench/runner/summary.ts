import { labelOf } from "./chart.ts";
import { goalOf, isMet } from "./goal.ts";
import type { Result } from "./results.ts";

/** A ratio that README.md shows in a sentence. */
interface Shown {
  readonly benchmark: string;
  /** A part of the ratio's name. `summaryRows` finds the ratio by this part. */
  readonly ratio: string;
  readonly sentence: (value: string) => string;
}

const SHOWN: readonly Shown[] = [
  {
    ...{ benchmark: "tree", ratio: "fastest other library's time for the tree of 100,000 users" },
    sentence: (times) => `Builds the tree of 100,000 users ${times} times as fast as the fastest other library`,
  },
  {
    ...{ benchmark: "verify", ratio: "first clients' time in a new process" },
    sentence: (times) => `Verifies a key in a new process ${times} times as fast as the first deployment's client`,
  },
  {
    ...{ benchmark: "gas", ratio: "gas for 700 users, relative to the floor" },
    sentence: (times) => `Publishes 700 users with ${times} times the minimum gas for that many storage slots`,
  },
  {
    ...{ benchmark: "publish", ratio: "s of processor time to publish 1,000,000 users" },
    sentence: (seconds) => `Publishes a million users in ${seconds} s of processor time`,
  },
  {
    ...{ benchmark: "audit", ratio: "auditing the files of 1,000,000 users" },
    sentence: (times) => `Audits the files of a million users in ${times} times the time for hashing and parsing them`,
  },
  {
    ...{ benchmark: "service", ratio: "token exchange with 32 clients, times as fast as oidc-provider" },
    sentence: (times) => `Exchanges tokens ${times} times as fast as oidc-provider, with 32 clients`,
  },
];

/**
 * Returns the rows of the table in README.md. Each row has a sentence with a ratio, the ratio's goal, and whether the
 * goal was met.
 */
export function summaryRows(results: readonly Result[]): { Figure: string; Goal: string; "": string }[] {
  return SHOWN.map(({ benchmark, ratio, sentence }) => {
    const { ratios = [] } = results.find((result) => result.benchmark === benchmark) ?? {};
    const found = ratios.find(({ what }) => what.includes(ratio));
    if (found === undefined) throw new Error(`The results of "${benchmark}" have no ratio "${ratio}".`);
    return { Figure: sentence(labelOf(found.value)), Goal: goalOf(found), "": isMet(found) ? "met" : "**missed**" };
  });
}
