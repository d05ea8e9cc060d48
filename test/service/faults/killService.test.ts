/**
 * Kills the service and its PostgreSQL in turns with SIGKILL under load, and reads everything that the service
 * acknowledged. `FAULTS=large npm test -- test/service/faults/killService.test.ts` kills 20 times.
 */
import { expect } from "chai";
import { type Postgres, type PostgresOptions, runAt, startPostgres } from "../../support/postgres/postgres.ts";
import { Caller } from "../../support/service/caller.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { Replicas } from "./load/replicas.ts";
import { UserWorkload } from "./load/userWorkload.ts";
import { FAULTS_TIMEOUT_MS, reported } from "../../support/faults.ts";
import { isLarge } from "../../support/testSize.ts";

const KILLS = isLarge ? 20 : 2;

describe("the service, after kill -9 under load", function () {
  this.timeout(FAULTS_TIMEOUT_MS);

  it("loses no acknowledged user, token or key", async () => {
    const victims = Array.from({ length: KILLS }, (_, i): Victim => (i % 2 === 0 ? "service" : "postgres"));
    const { kills, acknowledged, interrupted, findings } = await reported(killUnderLoad(victims));
    expect(findings).to.deep.equal([]);
    expect(kills).to.deep.equal({ service: KILLS / 2, postgres: KILLS / 2 });
    expect(interrupted).to.be.greaterThan(0);
    for (const count of Object.values(acknowledged)) expect(count).to.be.greaterThan(0);
  });

  it("loses data if PostgreSQL acknowledges commits before it writes them", async () => {
    const { findings } = await killUnderLoad(["postgres"], { synchronous_commit: "off", wal_writer_delay: "10s" });
    expect(findings).not.to.be.empty;
  });
});

const WORKERS = 8;
const CONNECTIONS = 8;
/** Number of keys that are registered before a kill. More users are in progress at that time. */
const KEYS_BEFORE_KILL = isLarge ? 100 : WORKERS;

type Victim = "service" | "postgres";

interface Outcome extends Pick<UserWorkload, "acknowledged" | "interrupted" | "findings"> {
  kills: Record<Victim, number>;
}

/**
 * Kills processes under load one after the other, and reads all acknowledged data after each kill.
 * @param victims the process to kill in each round
 * @param settings additional settings of PostgreSQL
 */
async function killUnderLoad(victims: readonly Victim[], settings: PostgresOptions["settings"] = {}): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync: true, settings });
  cleanup.defer(() => postgres.stop());
  const environment = await serviceEnvironment(postgres, CONNECTIONS);
  const service = cleanup.use(await Replicas.start(1, () => startServiceProcess(environment)));
  const partner = await new Caller(environment.KEYROOT_ADMIN_TOKEN, service.origin()).createPartner();
  const workload = new UserWorkload(() => service.origin(), partner);
  // Write the partner to disk even if the settings delay writes.
  await runAt(postgres.url, "CHECKPOINT");
  const kills = { service: 0, postgres: 0 };
  for (const victim of victims) {
    const load = workload.start(WORKERS);
    await load.untilRegistered(workload.acknowledged.keys + KEYS_BEFORE_KILL);
    if (victim === "service") await service.killNext();
    else await restartKilled(postgres);
    kills[victim]++;
    await load.end();
    await workload.readBack(() => ({ state: "pending" }));
  }
  const { acknowledged, interrupted, findings } = workload;
  return { kills, acknowledged, interrupted, findings };
}

async function restartKilled(postgres: Postgres): Promise<void> {
  await postgres.kill();
  await postgres.restart();
}
