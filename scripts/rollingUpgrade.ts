/**
 * Upgrades a service of two replicas three times under load, as docs/operations.md describes: migrates with the next version,
 * then replaces the replicas one by one. The next version adds a column, the one after it stops using the column, and the last
 * one removes it. `npm run upgrade:rolling` prints the outcome; exit code 1 if a request failed or anything acknowledged is
 * missing. The argument 0 lets replicas stop without a delay, to see that requests then fail.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { REGIONS } from "keyroot/identity";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { createPartner, serviceEnvironment } from "../fixtures/service/serviceProcess.ts";
import { UserWorkload } from "./killing/userWorkload.ts";
import { numberArguments } from "./numberArguments.ts";
import { Balancer } from "./upgrade/balancer.ts";
import { type Replica, ServiceVersion, type Upgrade } from "./upgrade/serviceVersion.ts";

const REPLICAS = 2;
const WORKERS = 4;
const CONNECTIONS = 5;
/** Several times as long as the balancer needs to notice that a replica is stopping. */
const SHUTDOWN_DELAY_S = 1;
/** How long the load runs between two steps. */
const WORK_MS = 300;

/** Where the column is added to `tables.ts`. */
const PLACE = '    submitted: timestampMs("submitted"),\n';
const COLUMN = '    origin: text("origin").$default(() => "next version"),\n';

/** The three releases in which a column comes and goes. CONTRIBUTING.md explains them. */
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

export interface Outcome extends Pick<UserWorkload, "acknowledged" | "findings"> {
  /** How many replicas were replaced. */
  replaced: number;
  /** Requests without a response, or with an error. */
  failures: number;
  /** The versions that refused to start over the last version's tables. */
  refused: string[];
}

/** @param shutdownDelay how long a replica that is stopping still accepts requests, in seconds */
export async function upgradeUnderLoad(shutdownDelay = SHUTDOWN_DELAY_S): Promise<Outcome> {
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
  const replace = async (old: Replica, version: ServiceVersion): Promise<Replica> => {
    const replica = await serve(version);
    await balancer.add(replica);
    await old.stop();
    balancer.remove(old);
    await setTimeout(WORK_MS);
    return replica;
  };

  const partner = await createPartner(balancer.next(), environment.KEYROOT_ADMIN_TOKEN);
  const workload = new UserWorkload(() => balancer.next(), partner);
  let [ending, replaced] = [false, 0];
  const worker = async (_: unknown, i: number) => {
    while (!ending) await workload.provision(REGIONS[i % REGIONS.length] ?? REGIONS[0]);
  };
  const working = Promise.all(Array.from({ length: WORKERS }, worker));
  try {
    for (const next of later) {
      await setTimeout(WORK_MS);
      await next.migrate(environment);
      // A replica of the current version that starts again, over the tables of the next one.
      for (const version of [current, next, next]) {
        const [old, ...others] = replicas as [Replica, ...Replica[]];
        replicas.splice(0, replicas.length, ...others, await replace(old, version));
        replaced++;
      }
      current = next;
    }
  } finally {
    ending = true;
    await working;
  }
  await workload.readBack(() => ({ state: "pending" }));

  const refused: string[] = [];
  for (const version of versions.slice(0, -2)) {
    const error = await serve(version).then(
      () => undefined,
      (reason: unknown) => reason as Error,
    );
    if (error?.message.includes("SCHEMA_OUTDATED") === true) refused.push(version.name);
  }
  const { acknowledged, interrupted: failures, findings } = workload;
  return { replaced, acknowledged, failures, refused, findings };
}

function replaceOnce(source: string, from: string, to: string): string {
  if (source.split(from).length !== 2) throw new Error(`tables.ts does not contain this once: ${from}`);
  return source.replace(from, to);
}

if (import.meta.main) {
  const start = performance.now();
  const { findings, ...outcome } = await upgradeUnderLoad(...numberArguments(SHUTDOWN_DELAY_S));
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...outcome, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = outcome.failures === 0 && findings.length === 0 ? 0 : 1;
}
