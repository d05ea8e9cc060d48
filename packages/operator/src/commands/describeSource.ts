import type { Evidence } from "keyroot/verifier";

/** Describes the source of the block hash on which a result is based. */
export function describeSource({ anchor, agreeing, auditors }: Evidence): string {
  return {
    endpoint: "one endpoint's unproven answer",
    quorum: `${agreeing ?? "several"} endpoints that agree`,
    pinned: "the block hash that you gave",
    "light-client": "the light client",
    beacon: "two thirds of Ethereum's sync committee, from your checkpoint on",
    auditors: `the auditors ${auditors?.map((key) => key.replace(/\+.*/, "")).join(", ")}`,
  }[anchor];
}
