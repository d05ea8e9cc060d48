import { Counter, type Registry } from "prom-client";
import { addGauge } from "../api/monitoring.ts";
import type { PublisherState } from "../publishing/publisherState.ts";

const WEI_PER_ETHER = 1e18;

/**
 * Adds metrics about the publisher. Every replica returns the same values, because they are read from the database.
 */
export function observePublisher(register: Registry, publisher: PublisherState): void {
  addGauge(
    register,
    "keyroot_publisher_report_age_seconds",
    "Seconds since the publisher's last report. It reports every 30 seconds; +Inf if it never did.",
    () => publisher.reportAge(),
  );
  addGauge(
    register,
    "keyroot_publishing_differences",
    "Roots for which the chain, the files and the databases differed at the last check, up to 100 in each database.",
    async () => (await publisher.listDifferences()).length,
  );
  addGauge(
    register,
    "keyroot_overdue_keys",
    "Keys without a published root whose hold period ended longer ago than the interval of publications and an hour.",
    () => publisher.countOverdue(),
  );
  observeFailures(register, publisher);
  observeOwner(register, publisher);
}

function observeFailures(register: Registry, publisher: PublisherState): void {
  new Counter({
    name: "keyroot_publishing_failures_total",
    help: "Failed publications by error code. COST_LIMIT_REACHED: nothing more is sent until the limit allows it.",
    labelNames: ["code"],
    registers: [register],
    async collect() {
      const failures = await publisher.failures();
      this.reset();
      for (const [code, count] of failures) this.inc({ code }, count);
    },
  });
}

/** Measures the owner's balance and the gas price. Both are NaN without a recent report, and raise no alert. */
function observeOwner(register: Registry, publisher: PublisherState): void {
  const etherOf = (wei: string | undefined) => (wei === undefined ? NaN : Number(wei) / WEI_PER_ETHER);
  addGauge(
    register,
    "keyroot_owner_balance_ether",
    "Balance of the registry's owner, which pays for publishing, in ether; NaN if the chain does not respond.",
    async () => etherOf((await publisher.report()).chain.state?.balance),
  );
  addGauge(
    register,
    "keyroot_gas_price_ether",
    "Current price per unit of gas in ether; NaN if the chain does not respond.",
    async () => etherOf((await publisher.report()).chain.state?.fee),
  );
}
