/**
 * Kills the partner service and its PostgreSQL in turns by SIGKILL under load, starts each again, and reads back over the API
 * everything that was acknowledged: `node scripts/killService.ts [rounds]`, 20 by default. Exit code 1 if anything is missing
 * or different.
 */
import { setTimeout } from "node:timers/promises";
import { type Postgres, type PostgresOptions, runAt, startPostgres } from "../fixtures/postgres/postgres.ts";
import {
  createPartner,
  serviceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from "../fixtures/service/serviceProcess.ts";
import { UserWorkload } from "./killing/userWorkload.ts";
import { numberArguments } from "./numberArguments.ts";

type Environment = Awaited<ReturnType<typeof serviceEnvironment>>;

const WORKERS = 8;
const CONNECTIONS = 8;
const REGION = "us-west-2";
/** How long the workload runs before a kill: a random time in this range. */
const WORK_MS = { min: 500, max: 1500 };

type Victim = "service" | "postgres";

export interface Outcome extends Pick<UserWorkload, "acknowledged" | "interrupted" | "findings"> {
  /** How often each was killed. */
  kills: Record<Victim, number>;
}

/**
 * Kills processes under load, one after the other, and reads everything back after each kill.
 * @param victims which process to kill in each round
 * @param settings further settings of PostgreSQL
 */
export async function killUnderLoad(
  victims: readonly Victim[],
  settings: PostgresOptions["settings"] = {},
): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync: true, settings });
  cleanup.defer(() => postgres.stop());
  const environment = await serviceEnvironment(postgres, CONNECTIONS);
  const target = cleanup.use(new KillTarget(environment, postgres, await startServiceProcess(environment)));
  const workload = new UserWorkload(
    () => target.origin,
    await createPartner(target.origin, environment.KEYROOT_ADMIN_TOKEN),
  );
  // Writes the partner to disk, whatever the settings.
  await runAt(postgres.url, "CHECKPOINT");
  for (const victim of victims) {
    await target.killUnderLoad(victim, workload);
    await workload.readBack(() => ({ state: "pending" }));
  }
  const { acknowledged, interrupted, findings } = workload;
  return { kills: target.kills, acknowledged, interrupted, findings };
}

/** A service and its PostgreSQL. */
class KillTarget implements AsyncDisposable {
  readonly kills: Outcome["kills"] = { service: 0, postgres: 0 };
  readonly #environment: Environment;
  readonly #postgres: Postgres;
  #service: ServiceProcess;

  constructor(environment: Environment, postgres: Postgres, service: ServiceProcess) {
    this.#environment = environment;
    this.#postgres = postgres;
    this.#service = service;
  }

  get origin(): string {
    return this.#service.origin;
  }

  /** Runs the workload, kills one of the two processes at a random time, starts it again, and ends the workload. */
  async killUnderLoad(victim: Victim, workload: UserWorkload): Promise<void> {
    let ending = false;
    const worker = async () => {
      while (!ending) await workload.provision(REGION);
    };
    const working = Promise.all(Array.from({ length: WORKERS }, worker));
    await setTimeout(WORK_MS.min + Math.random() * (WORK_MS.max - WORK_MS.min));
    if (victim === "service") {
      await this.#service.kill();
      this.#service = await startServiceProcess(this.#environment);
    } else {
      await this.#postgres.kill();
      await this.#postgres.restart();
    }
    this.kills[victim]++;
    ending = true;
    await working;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }
}

if (import.meta.main) {
  const [rounds] = numberArguments(20);
  const start = performance.now();
  const victims = Array.from({ length: rounds }, (_, round): Victim => (round % 2 === 0 ? "service" : "postgres"));
  const { findings, ...outcome } = await killUnderLoad(victims);
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...outcome, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
