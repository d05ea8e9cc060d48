/**
 * Upgrades a service with two replicas three times under load, as docs/scaling.md describes. Each upgrade migrates with
 * the next version, and then replaces the replicas one by one. The first version adds a column, the second stops using
 * it, and the third removes it.
 */
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../support/postgres/postgres.ts";
import { Caller } from "../../support/service/caller.ts";
import { serviceEnvironment } from "../../support/service/serviceProcess.ts";
import { UserWorkload } from "./load/userWorkload.ts";
import { Balancer } from "./upgrade/balancer.ts";
import { type Replica, ServiceVersion, type Upgrade } from "./upgrade/serviceVersion.ts";
import { describeFaults, FAULTS_TIMEOUT_MS, reported } from "../../support/faults.ts";
import { isLarge } from "../../support/testSize.ts";

describeFaults("a rolling upgrade under load", () => {
  it("fails no request when a column is added and later removed", async () => {
    const { replaced, acknowledged, failures, refused, findings } = await reported(upgradeUnderLoad());
    expect(findings).to.deep.equal([]);
    expect(failures).to.deep.equal([]);
    expect(replaced).to.equal(9);
    for (const count of Object.values(acknowledged)) expect(count).to.be.greaterThan(0);
    // Versions that use the removed column no longer start.
    expect(refused).to.deep.equal(["current", "adds"]);
  }).timeout(FAULTS_TIMEOUT_MS);
});

const REPLICAS = 2;
/**
 * The number of workers around each migration and each stop of a replica. Each user of a worker takes five requests.
 */
const WORKERS = 4;
/** Number of additional workers that work all the time, and their pause between two users in ms. */
const STEADY_WORKERS = isLarge ? WORKERS : 1;
const PAUSE_MS = isLarge ? 0 : 1_000;
const CONNECTIONS = 5;
/** Several times as long as the balancer needs to notice a stopping replica, even if the machine has other load. */
const SHUTDOWN_DELAY_S = 5;

/** The line of the table `public_keys` after which the column is added. */
const PLACE = '    submitted: timestampMs("submitted"),\n';
const COLUMN = '    origin: text("origin").$default(() => "next version"),\n';

/** The three releases that add and remove a column. CONTRIBUTING.md explains them. */
const UPGRADES: readonly Upgrade[] = [
  {
    name: "adds",
    tables: (source) => replaceOnce(source, PLACE, PLACE + COLUMN),
    migration: () => 'ALTER TABLE "public_keys" ADD COLUMN "origin" text;',
  },
  {
    name: "stops_using",
    tables: (source) => replaceOnce(source, COLUMN, ""),
    migration: () => '-- The next version drops "public_keys"."origin".',
  },
  {
    name: "removes",
    migration: (known) =>
      `ALTER TABLE "public_keys" DROP COLUMN "origin";--> statement-breakpoint\nINSERT INTO "schema_requirements" VALUES (${known});`,
  },
];

interface Outcome extends Pick<UserWorkload, "acknowledged" | "findings"> {
  replaced: number;
  /** Requests without a response or with a temporary error: path, response and duration. */
  failures: string[];
  /** The versions that did not start with the last version's tables. */
  refused: string[];
}

/** @param shutdownDelay time in seconds for which a stopping replica still accepts requests */
async function upgradeUnderLoad(shutdownDelay = SHUTDOWN_DELAY_S): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "keyroot-upgrade-"));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const postgres = await startPostgres();
  cleanup.defer(() => postgres.stop());
  const environment = {
    ...(await serviceEnvironment(postgres, CONNECTIONS)),
    KEYROOT_SHUTDOWN_DELAY: String(shutdownDelay),
  };
  const versions = [await ServiceVersion.copyOf(folder, "current")];
  for (const upgrade of UPGRADES) {
    const next = await versions.at(-1)?.next(upgrade);
    if (next !== undefined) versions.push(next);
  }
  const serve = async (version: ServiceVersion) => cleanup.use(await version.serve(environment));

  const balancer = cleanup.use(new Balancer());
  const [first, ...later] = versions as [ServiceVersion, ...ServiceVersion[]];
  let current = first;
  const replicas: Replica[] = [];
  for (let i = 0; i < REPLICAS; i++) {
    const replica = await serve(current);
    replicas.push(replica);
    await balancer.add(replica);
  }
  const partner = await new Caller(environment.KEYROOT_ADMIN_TOKEN, balancer.next()).createPartner();
  const failures: string[] = [];
  const workload = new UserWorkload(
    () => balancer.next(),
    partner,
    ({ path, response, sent, ended }) => {
      if (response === undefined || response.status === 503)
        failures.push(`${path}: ${response?.text ?? "no response"} after ${ended - sent} ms`);
    },
  );
  /** Runs a step while all workers work, which register keys before and after it. */
  const underLoad = async (step: () => Promise<unknown>): Promise<void> => {
    await using running = workload.start(WORKERS);
    await running.untilRegistered(workload.acknowledged.keys + WORKERS);
    await step();
    await running.untilRegistered(workload.acknowledged.keys + WORKERS);
  };
  const replace = async (old: Replica, version: ServiceVersion): Promise<Replica> => {
    const replica = await serve(version);
    await balancer.add(replica);
    let stopped = Promise.resolve();
    await underLoad(async () => {
      stopped = old.stop();
      // `await stopped` reports a failure.
      stopped.catch(() => undefined);
      await balancer.untilNotReady(old);
    });
    await stopped;
    balancer.remove(old);
    return replica;
  };

  let replaced = 0;
  const load = cleanup.use(workload.start(STEADY_WORKERS, PAUSE_MS));
  for (const next of later) {
    await underLoad(() => next.migrate(environment));
    // A replica of the current version starts again with the next version's tables.
    for (const version of [current, next, next]) {
      const [old, ...others] = replicas as [Replica, ...Replica[]];
      replicas.splice(0, replicas.length, ...others, await replace(old, version));
      replaced++;
    }
    current = next;
  }
  await load.end();
  await workload.readBack(() => ({ state: "pending" }));

  const refused: string[] = [];
  for (const version of versions.slice(0, -2)) {
    const error = await serve(version).then(
      () => undefined,
      (reason: unknown) => reason as Error,
    );
    if (error?.message.includes("SCHEMA_OUTDATED") === true) refused.push(version.name);
  }
  const { acknowledged, findings } = workload;
  return { replaced, acknowledged, failures, refused, findings };
}

function replaceOnce(source: string, from: string, to: string): string {
  if (source.split(from).length !== 2) throw new Error(`The table public_keys does not contain this once: ${from}`);
  return source.replace(from, to);
}
