import { labelOf } from "./chart.ts";
import type { Ratio } from "./report.ts";

/** Formats the goal of a ratio. Returns an empty string without a goal. */
export function goalOf({ atMost, atLeast }: Ratio): string {
  const goals = [
    ...(atMost === undefined ? [] : [`at most ${labelOf(atMost)}`]),
    ...(atLeast === undefined ? [] : [`at least ${labelOf(atLeast)}`]),
  ];
  return goals.join(", ");
}

export function isMet({ value, atMost = Infinity, atLeast = -Infinity }: Ratio): boolean {
  return value <= atMost && value >= atLeast;
}
