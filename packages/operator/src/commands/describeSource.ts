import type { Evidence } from "keyroot/internal/verifier";

/** Describes the source of the block hash on which a result is based. */
export function describeSource({ source, details: { agreeing, auditors = [] } = {} }: Evidence): string {
  return {
    "one-endpoint": "one endpoint's unproven answer",
    endpoints: `${agreeing ?? "several"} endpoints that agree`,
    "own-node": "your own node",
    "pinned-block": "the block hash that you gave",
    "light-client": "two thirds of Ethereum's sync committee, from your checkpoint on",
    auditors: `the auditors ${auditors.map((key) => key.replace(/\+.*/, "")).join(", ")}`,
  }[source];
}
