/**
 * Kills and pauses the systems that the service depends on, under load: three nodes with Patroni and PostgreSQL, etcd,
 * HAProxy, a chain and two publishing replicas. A separate program then compares databases, chain and files with every
 * acknowledged call.
 *
 * `FAULTS=large npm test -- test/service/faults/killFailover.test.ts` (11 minutes) injects 30 faults and writes the
 * length of each outage to bench/failover.json. It needs Debian's PostgreSQL. If Patroni, etcd or HAProxy is not
 * installed, it downloads Debian's packages to node_modules/.cache/failover, and installs nothing. A small run without
 * these programs is skipped.
 */
import { expect } from "chai";
import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, createWriteStream, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { hasAnvil, startAnvil } from "../../support/anvil/anvil.ts";
import { startHardhat } from "../../support/chain/freshRegistry.ts";
import { freePort } from "../../support/servers/ports.ts";
import { Caller } from "../../support/service/caller.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { never } from "../../support/support.ts";
import { Cluster } from "./failover/cluster.ts";
import { type Replica, replicaEnvironment } from "./failover/configuration.ts";
import { type Fault, FAULTS, inject } from "./failover/faults.ts";
import { deployForService } from "./load/deployForService.ts";
import { Replicas } from "./load/replicas.ts";
import { type Call, UserWorkload } from "./load/userWorkload.ts";
import { isCached } from "./failover/programs.ts";
import { describeFaults, FAULTS_TIMEOUT_MS } from "../../support/faults.ts";
import { isLarge } from "../../support/testSize.ts";
import { untilReady } from "../../support/servers/untilReady.ts";

const SMALL: readonly Fault[] = ["leader killed"];
const LARGE: readonly Fault[] = [...FAULTS, ...FAULTS, ...FAULTS];

describeFaults("a database with a leader and two standbys", () => {
  it("loses no acknowledged data when any part fails under load", async function () {
    if (!isLarge && !isCached()) this.skip(); // CI does not install Patroni, etcd and HAProxy.
    this.timeout(FAULTS_TIMEOUT_MS);
    const start = performance.now();
    const faults = isLarge ? LARGE : SMALL;
    const report = await killFailover(faults, (line) => {
      if (isLarge) process.stderr.write(`${line}\n`);
    });
    if (isLarge) record(report, performance.now() - start);
    const { findings, acknowledged, refused, outages } = report;
    expect(findings).to.deep.equal([]);
    for (const count of Object.values(acknowledged)) expect(count).to.be.greaterThan(0);
    expect(refused).to.be.greaterThan(0);
    expect(outages).to.have.lengthOf(faults.length);
  });
});

const CHECKER = fileURLToPath(new URL("failover/checkLedger.mjs", import.meta.url));
const RECORD = fileURLToPath(new URL("../../../bench/failover.json", import.meta.url));
const REPLICAS = 2;
const CONNECTIONS = 10;
const WORKERS = 6;
/** Pause of a worker between two users, in ms. */
const PAUSE_MS = isLarge ? 30 : 150;
/** Pause of the events reader after it has read all events, in ms. */
const READ_MS = 100;
/** Time in ms between two requests that check whether a node leads. */
const WATCH_MS = isLarge ? 50 : 250;
/** Time in ms for which the load runs before the first fault and after each fault. */
const CALM_MS = 3_000;
/** Each replica publishes while there are unpublished keys, with a short pause between two runs. */
const SCHEDULE = { every: 0.5, atLeast: 1 };

interface CheckSettings {
  ledger: string;
  databases: string[];
  leader: string;
  bizID: string;
  rpcUrl: string;
  contract: string;
  files: string;
}

interface Report {
  findings: string[];
  acknowledged: Record<string, number>;
  refused: number;
  broken: number;
  slowestMs: number;
  roots: number;
  outages: { fault: Fault; outageMs: number; afterLeaderMs: number | null }[];
}

/** Injects one fault after the other under load, and checks everything that was acknowledged. */
async function killFailover(faults: readonly Fault[], log: (line: string) => void): Promise<Report> {
  await using cleanup = new AsyncDisposableStack();
  const cluster = cleanup.use(await Cluster.start());
  const ledger = new Ledger(join(cluster.folder, "ledger.jsonl"));
  const chain = await (hasAnvil ? startAnvil("--block-time", "1") : startHardhat());
  cleanup.defer(() => chain.close());
  const { contract, filesDir: files, variables } = await deployForService(cleanup, chain.url);
  const createDatabase = () => Promise.resolve(cluster.databaseUrl);
  const environment = {
    ...(await serviceEnvironment({ createDatabase, folder: cluster.folder }, CONNECTIONS)),
    // The limit makes replicas count in the database, but it is never reached.
    KEYROOT_RATE_LIMIT: "1000000",
    ...variables,
  };
  const addresses: Replica[] = [];
  for (let i = 0; i < REPLICAS; i++)
    addresses.push({ host: "127.0.0.1", port: await freePort(), monitoringPort: await freePort() });
  // Each replica keeps its address after a restart.
  const start = (i: number) => {
    const address = addresses[i] ?? never();
    const own = replicaEnvironment(address, environment.DATABASE_URL, address.host);
    return startServiceProcess({ ...environment, ...own }, SCHEDULE);
  };
  const replicas = cleanup.use(await Replicas.start(REPLICAS, start));
  await cluster.serve(addresses);
  await untilReady(`${cluster.origin}/openapi.json`);
  const partner = await new Caller(environment.KEYROOT_ADMIN_TOKEN, cluster.origin).createPartner();
  const workload = new UserWorkload(
    () => cluster.origin,
    partner,
    (call) => {
      ledger.write(toLine(call));
    },
  );

  const findings: string[] = [];
  const ending = new AbortController();
  const watching = watchLeaders(cluster, ledger, ending.signal);
  let cursor: string | undefined;
  const reader = async () => {
    while (!ending.signal.aborted) {
      cursor = await workload.readEvents(cursor);
      await sleep(READ_MS);
    }
  };
  const load = workload.start(WORKERS, PAUSE_MS);
  const working = Promise.all([reader(), load.working]);
  try {
    await sleep(CALM_MS);
    for (const [i, fault] of faults.entries()) {
      ledger.write({ type: "fault", fault, at: Date.now() });
      const started = performance.now();
      await Promise.race([inject(fault, cluster, () => replicas.killNext()), failureOf(working)]);
      await sleep(CALM_MS);
      for (const ended of replicas.ended()) findings.push(`${fault}: ${ended}`);
      log(
        `${i + 1}. ${fault}, complete again after ${Math.round((performance.now() - started - CALM_MS) / 100) / 10} s`,
      );
    }
  } finally {
    ending.abort();
    await Promise.allSettled([load.end(), working, watching]);
  }
  await ledger.close();
  const settings = {
    ledger: ledger.path,
    databases: cluster.nodes.map((node) => cluster.urlOf(node)),
    leader: cluster.databaseUrl,
    ...{ bizID: partner.bizID, rpcUrl: chain.url, contract, files },
  };
  const report = await check(settings);
  findings.push(...(await findUnnoticed(settings)));
  await workload.readBack(() => ({ state: "published" }));
  return { ...report, findings: [...findings, ...report.findings, ...workload.findings] };
}

/** A file with one line of JSON per call, fault and change of leader. */
class Ledger {
  readonly path: string;
  readonly #stream;

  constructor(path: string) {
    this.path = path;
    this.#stream = createWriteStream(path, { mode: 0o600 });
  }

  write(line: object): void {
    this.#stream.write(`${JSON.stringify(line)}\n`);
  }

  async close(): Promise<void> {
    this.#stream.end();
    await finished(this.#stream);
  }
}

function toLine({ path, body, token: accessToken, sent, ended, response }: Call): object {
  const { status = null, body: answer = null } = response ?? {};
  const retryAfter = response?.headers.get("Retry-After") ?? null;
  return { type: "call", path, body, accessToken, sent, ended, status, retryAfter, answer };
}

/** Records when each node starts and stops to report that it leads. */
async function watchLeaders(cluster: Cluster, ledger: Ledger, signal: AbortSignal): Promise<void> {
  await Promise.all(
    cluster.nodes.map(async (node) => {
      let was = false;
      while (!signal.aborted) {
        const leads = await cluster.leads(node);
        if (leads !== was) ledger.write({ type: "leader", node: node.name, leads, at: Date.now() });
        was = leads;
        await sleep(WATCH_MS);
      }
    }),
  );
}

async function failureOf(working: Promise<unknown>): Promise<never> {
  await working;
  throw new Error("The load ended early.");
}

/**
 * Adds false acknowledgements and wrong errors to the checker's input. @returns the additions that the checker omits
 */
async function findUnnoticed({ ledger, ...settings }: CheckSettings): Promise<string[]> {
  const forged = `${ledger}.forged`;
  copyFileSync(ledger, forged);
  const hex = "0".repeat(40);
  const userID = "y".repeat(32);
  const user = { user_id: userID, bucket: "b", region: "us-west-2", salt: "", created: 1 };
  const claims = Buffer.from(JSON.stringify({ sub: userID })).toString("base64url");
  const key = { public_key: "a", key_id: "b" };
  const calls = [
    { path: "/users/create", body: { user_id_hex: hex }, status: 201, answer: user },
    { path: "/users/createRefreshToken", body: { user_id_hex: hex }, status: 200, answer: { token: "t" } },
    { path: "/publicKey/register", body: key, accessToken: `.${claims}.`, status: 200, answer: key },
    { path: "/without", status: 503, retryAfter: null },
    { path: "/defect", status: 500, retryAfter: null },
  ];
  const lines = calls.map((call) => JSON.stringify({ type: "call", sent: 0, ended: 0, ...call }));
  appendFileSync(forged, `${lines.join("\n")}\n`);
  const noticed = (await check({ ...settings, ledger: forged })).findings.join("\n");
  const expected = [`user ${userID}: acknowledged`, `token of "${userID}"`, `key of ${userID}: acknowledged`];
  return [...expected, "/without: status 503", "/defect: status 500"]
    .filter((text) => !noticed.includes(text))
    .map((text) => `the checker did not report: ${text}`);
}

/** Runs the checker, a program that shares no code with the service. */
async function check(settings: CheckSettings): Promise<Report> {
  const child = spawn(process.execPath, [CHECKER], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(settings));
  return (await json(child.stdout)) as Report;
}

/** Writes the figures that docs/scaling.md contains. */
function record({ findings, ...report }: Report, elapsedMs: number): void {
  const machine = `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`;
  const command = "FAULTS=large npm test -- test/service/faults/killFailover.test.ts";
  const counts = { faults: LARGE.length, findings: findings.length, seconds: Math.round(elapsedMs / 1000) };
  writeFileSync(RECORD, `${JSON.stringify({ machine, command, ...counts, ...report }, null, 2)}\n`);
}
