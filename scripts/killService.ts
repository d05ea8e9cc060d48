/**
 * Kills the partner service or its PostgreSQL by SIGKILL while partners and users are at work, starts it again, and reads
 * back over the API everything that was ever acknowledged: `node scripts/killService.ts [rounds]`, 20 by default. Exit 1
 * when anything is missing or different.
 */
import { setTimeout } from "node:timers/promises";
import { type Postgres, type PostgresOptions, runAt, startPostgres } from "../fixtures/postgres/postgres.ts";
import { type Keyroot, keyrootSettings, makePartner, startKeyroot } from "../fixtures/service/serviceProcess.ts";
import { UsersAtWork } from "./killing/usersAtWork.ts";

type Configuration = Awaited<ReturnType<typeof keyrootSettings>>;

const WORKERS = 8;
const CONNECTIONS = 8;
const REGION = "us-west-2";
/** How long the others work before a kill, in ms: any moment in between. */
const WORK = { least: 500, most: 1500 };

/** What came of it. */
export interface Outcome extends Pick<UsersAtWork, "acknowledged" | "interrupted" | "findings"> {
  /** Which was killed how often. */
  kills: { service: number; postgres: number };
}

/**
 * Kills service and PostgreSQL by turns, so many times in all, under load; and reads everything back after each kill.
 * @param settings of PostgreSQL, other than its own
 */
export async function killUnderLoad(rounds: number, settings: PostgresOptions["settings"] = {}): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync: true, settings });
  cleanup.defer(() => postgres.stop());
  const configuration = await keyrootSettings(postgres, CONNECTIONS);
  const world = new World(configuration, postgres, await startKeyroot(configuration));
  cleanup.use(world);
  const users = await world.open();
  // A checkpoint writes what was set up, whatever the settings.
  await runAt(postgres.url, "CHECKPOINT");
  for (let round = 0; round < rounds; round++) {
    await world.killOnce(round % 2 === 0 ? "service" : "postgres", users);
    await users.readBack(() => ({ state: "pending" }));
  }
  const { acknowledged, interrupted, findings } = users;
  return { kills: world.kills, acknowledged, interrupted, findings };
}

/** A service over its PostgreSQL. */
class World implements AsyncDisposable {
  readonly kills: Outcome["kills"] = { service: 0, postgres: 0 };
  readonly #configuration: Configuration;
  readonly #postgres: Postgres;
  #service: Keyroot;

  constructor(configuration: Configuration, postgres: Postgres, service: Keyroot) {
    this.#configuration = configuration;
    this.#postgres = postgres;
    this.#service = service;
  }

  /** Makes a partner, whose users are to be at work. */
  async open(): Promise<UsersAtWork> {
    const partner = await makePartner(this.#service.origin, this.#configuration.KEYROOT_ADMIN_TOKEN);
    return new UsersAtWork(() => this.#service.origin, partner);
  }

  /** Lets everybody work, kills one of the two in the middle of it, starts it again, and lets everybody come to an end. */
  async killOnce(what: "service" | "postgres", users: UsersAtWork): Promise<void> {
    let closing = false;
    const worker = async () => {
      while (!closing) await users.provision(REGION);
    };
    const working = Promise.all(Array.from({ length: WORKERS }, worker));
    await setTimeout(WORK.least + Math.random() * (WORK.most - WORK.least));
    if (what === "service") {
      await this.#service.kill();
      this.#service = await startKeyroot(this.#configuration);
    } else {
      await this.#postgres.kill();
      await this.#postgres.restart();
    }
    this.kills[what]++;
    closing = true;
    await working;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 20);
  const start = performance.now();
  const { findings, ...outcome } = await killUnderLoad(rounds);
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...outcome, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
