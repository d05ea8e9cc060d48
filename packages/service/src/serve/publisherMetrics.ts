import { ERROR_CODES } from "keyroot/internal/errors";
import { OPERATOR_ERROR_CODES } from "@keyroot/operator/shared";
import type { ReadMetrics } from "../api/readMetrics.ts";
import type { PublisherState } from "../publishing/publisherState.ts";

const WEI_PER_ETHER = 1e18;
/** The codes of failed publications. UNEXPECTED stands for errors without a code. */
const FAILURE_CODES = [...ERROR_CODES, ...OPERATOR_ERROR_CODES, "UNEXPECTED"];

/** Adds metrics about the publisher. Every replica returns the same values, because they are read from the database. */
export function observePublisher(metrics: ReadMetrics, publisher: PublisherState): void {
  metrics.addGauge(
    "keyroot_publisher_report_age_seconds",
    "Seconds since the publisher's last report. It reports every 30 seconds; +Inf if it never did.",
    () => publisher.reportAge(),
  );
  metrics.addGauge(
    "keyroot_publishing_differences",
    "Roots for which the chain, the files and the databases differed at the last check, up to 100 in each database.",
    async () => (await publisher.listDifferences()).length,
  );
  metrics.addGauge(
    "keyroot_overdue_keys",
    "Keys without a published root whose hold period ended longer ago than the interval of publications and an hour.",
    () => publisher.countOverdue(),
  );
  metrics.addCounter(
    "keyroot_publishing_failures_total",
    "Failed publications by error code. COST_LIMIT_REACHED: nothing more is sent until the limit allows it.",
    // Prometheus counts increases. It would not see the first failure of a series that begins with 1.
    async () => new Map([...FAILURE_CODES.map((code) => [code, 0] as const), ...(await publisher.failures())]),
  );
  // The balance and the price are NaN without a recent report, and raise no alert.
  const etherOf = (wei: string | undefined) => (wei === undefined ? NaN : Number(wei) / WEI_PER_ETHER);
  metrics.addGauge(
    "keyroot_owner_balance_ether",
    "Balance of the registry's owner, which pays for publishing, in ether; NaN if the chain does not respond.",
    async () => etherOf((await publisher.report()).chain.state?.balance),
  );
  metrics.addGauge(
    "keyroot_gas_price_ether",
    "Current price per unit of gas in ether; NaN if the chain does not respond.",
    async () => etherOf((await publisher.report()).chain.state?.fee),
  );
}
