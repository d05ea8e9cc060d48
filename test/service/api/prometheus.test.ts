import { expect } from "chai";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { readPage } from "../../support/pages.ts";
import { readConfig } from "../../../packages/service/src/config/readConfig.ts";
import { type RunningService, startService } from "../../../packages/service/src/serve/startService.ts";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { debianProgram } from "../../support/processes/debianProgram.ts";
import { freePort } from "../../support/servers/ports.ts";
import { untilReady } from "../../support/servers/untilReady.ts";
import { migratedDatabaseUrl, serviceVariables } from "../../support/service/support.ts";
import { closedAfterEach, temporaryFolder } from "../../support/support.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const ALERTS = join(ROOT, "packages/service/monitoring/alerts.yml");
const DASHBOARD = join(ROOT, "packages/service/monitoring/dashboard.json");

describe("the files for Prometheus and Grafana", () => {
  const folder = temporaryFolder();
  const closing = closedAfterEach();
  const fresh = freshRegistry();

  /** Starts a publishing service, which has all metrics. */
  async function start(): Promise<RunningService> {
    const config = readConfig({
      ...(await serviceVariables(folder.path)),
      ...{ DATABASE_URL: await migratedDatabaseUrl(), KEYROOT_LOG_LEVEL: "silent" },
      ...{ KEYROOT_RPC_URL: fresh.rpcUrl, KEYROOT_CHAIN_ID: String(fresh.chainId), KEYROOT_CONTRACT: fresh.contract },
      ...{ KEYROOT_FILES: fresh.filesDir, KEYROOT_WEBHOOK_PRIVATE: "true" },
    });
    return closing(await startService(config));
  }

  it("contain alerts that only the service's faults raise", async () => {
    const promtool = debianProgram("promtool", "prometheus");
    await run(promtool, ["check", "rules", ALERTS]);
    const tests = await readFile(join(import.meta.dirname, "alerts.promtest.yml"), "utf8");
    const path = join(folder.path, "tests.yml");
    await writeFile(path, tests.replace("ALERTS", ALERTS));
    const { stdout } = await run(promtool, ["test", "rules", path]);
    expect(stdout).to.include("SUCCESS");
  });

  it("contain the alerts that docs/monitoring.md lists", async () => {
    const names = Array.from((await readFile(ALERTS, "utf8")).matchAll(/alert: (\w+)/g), ([, name]) => name);
    const listed = Array.from(
      (await readPage("docs/monitoring.md")).matchAll(/^\| `(Keyroot\w+)`/gm),
      ([, name]) => name,
    );
    expect(listed).to.deep.equal(names);
  });

  it("read only series of the job", async () => {
    for (const path of [ALERTS, DASHBOARD]) {
      const text = (await readFile(path, "utf8")).replaceAll('\\"', '"').replaceAll(/^ *(?:#|summary:).*$/gm, "");
      const metrics = [...text.matchAll(/\b(?:up|(?:http|keyroot|nodejs|process)_\w+)(\{job="keyroot"[,}])?/g)];
      expect(metrics).to.have.length.above(10);
      expect(metrics.flatMap(([name, job]) => (job === undefined ? [name] : []))).to.deep.equal([]);
    }
  });

  it("contain a dashboard with metrics that the service has", async () => {
    const program = debianProgram("prometheus", "prometheus");
    const service = await start();
    const port = await freePort();
    const config = join(folder.path, "prometheus.yml");
    const target = new URL(service.monitoringUrl ?? "").host;
    const scrape = { job_name: "keyroot", scrape_interval: "1s", static_configs: [{ targets: [target] }] };
    // JSON is valid YAML.
    await writeFile(config, JSON.stringify({ rule_files: [ALERTS], scrape_configs: [scrape] }));
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder.path}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const prometheus = spawn(program, args, { stdio: "ignore" });
    const exited = once(prometheus, "exit");
    closing({
      close: async () => {
        prometheus.kill();
        await exited;
      },
    });
    await untilReady(`http://127.0.0.1:${port}/-/ready`, prometheus);
    const query = async (expression: string): Promise<unknown[]> => {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const response = await fetch(url);
      if (response.status !== 200) throw new Error(`${expression}: ${response.status} ${await response.text()}`);
      return ((await response.json()) as { data: { result: unknown[] } }).data.result;
    };
    const { panels } = JSON.parse(await readFile(DASHBOARD, "utf8")) as { panels: { targets: { expr: string }[] }[] };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions).to.have.length.above(8);
    const waiting = new Set(expressions);
    while (waiting.size > 0) {
      // Rates need two scrapes, and requests between the scrapes.
      await fetch(`${service.url}/v1/nowhere`);
      for (const expression of waiting) {
        if ((await query(expression)).length > 0) waiting.delete(expression);
      }
      await sleep(200);
    }
  });
});
