import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import { makeMonitoring } from "../../../packages/service/src/api/monitoring.ts";
import { makeLogger } from "../../../packages/service/src/api/logger.ts";
import { openDatabases } from "../../../packages/service/src/api/database/database.ts";
import { readConfig } from "../../../packages/service/src/config/readConfig.ts";
import { PublisherState } from "../../../packages/service/src/publishing/publisherState.ts";
import { observePublisher } from "../../../packages/service/src/serve/publisherMetrics.ts";
import { type RunningService, startService } from "../../../packages/service/src/serve/startService.ts";
import { type Postgres, startPostgres } from "../../support/postgres/postgres.ts";
import { migratedDatabaseUrl, serviceVariables } from "../../support/service/support.ts";
import { closedAfterEach, temporaryFolder } from "../../support/support.ts";

/** The metrics whose values the databases contain, with a line of each while no key is registered. */
const DATABASE_METRICS = {
  keyroot_webhook_pending_deliveries: "keyroot_webhook_pending_deliveries 0",
  keyroot_publisher_report_age_seconds: "keyroot_publisher_report_age_seconds +Inf",
  keyroot_publishing_differences: "keyroot_publishing_differences 0",
  keyroot_publishing_failures_total: 'keyroot_publishing_failures_total{code="UNEXPECTED"} 0',
  keyroot_overdue_keys: "keyroot_overdue_keys 0",
  keyroot_owner_balance_ether: "keyroot_owner_balance_ether Nan",
  keyroot_gas_price_ether: "keyroot_gas_price_ether Nan",
};
const NAMES = Object.keys(DATABASE_METRICS);
const REGISTRY = { contract: `0x${"ab".repeat(20)}`, chainId: 31337 };

describe("/metrics", () => {
  const folder = temporaryFolder();

  describe("of a service that has just started", () => {
    it("has the value 0 for every outcome and error code", async () => {
      await using databases = await openDatabases({ url: await migratedDatabaseUrl() });
      const publisher = new PublisherState(databases, REGISTRY, false);
      const { body } = await makeMonitoring({
        ...{ databases, rateLimit: 0 },
        addMetrics: (metrics) => {
          observePublisher(metrics, publisher);
        },
      }).app.inject("/metrics");
      const zeros = [
        ...["delivered", "pending", "failed"].map(
          (outcome) => `keyroot_webhook_attempt_duration_seconds_count{outcome="${outcome}"} 0`,
        ),
        ...["NO_RECEIPT", "COST_LIMIT_REACHED", "UNREACHABLE", "RPC_ERROR", "UNEXPECTED"].map(
          (code) => `keyroot_publishing_failures_total{code="${code}"} 0`,
        ),
        'keyroot_unread_metrics{metric="keyroot_overdue_keys"} 0',
      ];
      expect(body.split("\n")).to.include.members(zeros);
    });
  });

  describe("while PostgreSQL is down", () => {
    const closing = closedAfterEach();
    let postgres: Postgres;
    let running: RunningService;
    beforeEach(async () => {
      postgres = await startPostgres();
      closing({ close: () => postgres.stop() });
      const url = await postgres.createDatabase();
      {
        await using databases = await openDatabases({ url });
        await databases.migrate();
      }
      const config = readConfig({
        ...(await serviceVariables(folder.path)),
        ...{ DATABASE_URL: url, KEYROOT_LOG_LEVEL: "silent" },
        ...{ KEYROOT_CHAIN_ID: String(REGISTRY.chainId), KEYROOT_CONTRACT: REGISTRY.contract },
      });
      running = closing(await startService(config));
    });
    const scrape = async () => {
      const response = await fetch(`${running.monitoringUrl}/metrics`);
      return { status: response.status, lines: (await response.text()).split("\n") };
    };
    const read = (lines: string[]) =>
      Object.entries(DATABASE_METRICS).flatMap(([name, line]) => (lines.includes(line) ? [name] : []));
    const unread = (lines: string[]) =>
      NAMES.filter((name) => lines.includes(`keyroot_unread_metrics{metric="${name}"} 1`));

    it("leaves out only the values of the databases, until PostgreSQL is up again", async () => {
      const before = await scrape();
      expect([before.status, read(before.lines), unread(before.lines)]).to.deep.equal([200, NAMES, []]);

      await postgres.kill();
      const down = await scrape();
      expect([down.status, read(down.lines), unread(down.lines)]).to.deep.equal([200, [], NAMES]);
      for (const name of NAMES)
        expect(
          down.lines.some((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`)),
          name,
        ).to.equal(false);
      expect(down.lines.some((line) => line.startsWith("nodejs_eventloop_lag_p99_seconds "))).to.equal(true);

      await postgres.restart();
      let up = await scrape();
      while (read(up.lines).length < NAMES.length) {
        await sleep(50);
        up = await scrape();
      }
      expect([up.status, unread(up.lines)]).to.deep.equal([200, []]);
    });
  });

  describe("with a value that never arrives", () => {
    it("leaves out this value, and logs the reason", async () => {
      await using databases = await openDatabases({ url: "postgres://127.0.0.1:1/none" });
      const log: string[] = [];
      const logger = makeLogger("warn", { write: (line: string) => void log.push(line) });
      let isEndless = true;
      const countPending = () => (isEndless ? new Promise<number>(() => undefined) : Promise.resolve(2));
      const { app } = makeMonitoring({ databases, logger, rateLimit: 0, countPending });
      const scrape = async () => (await app.inject("/metrics")).body.split("\n");

      const first = await scrape();
      expect(first).to.include('keyroot_unread_metrics{metric="keyroot_webhook_pending_deliveries"} 1');
      expect(first.filter((line) => line.startsWith("keyroot_webhook_pending_deliveries"))).to.deep.equal([]);
      expect(log.join("")).to.match(/The metric keyroot_webhook_pending_deliveries did not finish within 7000 ms/);

      isEndless = false;
      expect(await scrape()).to.include.members([
        'keyroot_unread_metrics{metric="keyroot_webhook_pending_deliveries"} 0',
        "keyroot_webhook_pending_deliveries 2",
      ]);
    });
  });
});
