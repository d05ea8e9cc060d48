/**
 * Two services with one PostgreSQL publish, and are killed with SIGKILL at random times, while users register keys. At
 * the end, every acknowledged key must have exactly one root, and every root must have its file.
 *
 * `FAULTS=large npm test -- test/service/faults/killPublishing.test.ts` (4 minutes) kills 50 times.
 */
import { expect } from "chai";
import { sql } from "drizzle-orm";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { countPublishable, type Database, type Databases, openDatabases, publisherLeases } from "@keyroot/service";
import type { RpcCall } from "keyroot/internal/transport";
import { stopMining } from "../../support/anvil/anvilControl.ts";
import { runAt } from "../../support/postgres/postgres.ts";
import { Caller } from "../../support/service/caller.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { deployForService } from "./load/deployForService.ts";
import { Replicas } from "./load/replicas.ts";
import { UserWorkload } from "./load/userWorkload.ts";
import { verifyPublished } from "./load/verifyPublished.ts";
import { FAULTS_TIMEOUT_MS, reported } from "../../support/faults.ts";
import { isLarge } from "../../support/testSize.ts";
import { CompetingPublisher } from "../../support/publisher/competingPublisher.ts";
import { sharedPostgres } from "../../support/postgres/sharedPostgres.ts";
import { describeOnBoth, freshRegistry } from "../../support/chain/freshRegistry.ts";
import { sampleRecords } from "../../support/samples.ts";
import { never } from "../../support/support.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

describeOnBoth("two services that publish", (startChain) => {
  it("publish every key exactly once even if the service is killed with kill -9", async () => {
    const chain = await startChain();
    try {
      const postgres = await sharedPostgres();
      const killing = killPublishers(KILLS, chain.url, () => postgres.createDatabase());
      const { findings, kills, acknowledged, roots } = await reported(killing);
      expect(findings).to.deep.equal([]);
      expect(kills).to.equal(KILLS);
      expect(acknowledged.keys).to.be.greaterThan(0);
      expect(roots).to.be.greaterThan(1);
    } finally {
      await chain.close();
    }
  }).timeout(FAULTS_TIMEOUT_MS);

  describe("the check of published keys", () => {
    const fresh = freshRegistry(startChain);
    const [first = never(), second = never(), third = never(), fourth = never()] = sampleRecords(4);
    let publisher: CompetingPublisher;
    beforeEach(async () => {
      for (const name of await readdir(fresh.filesDir)) await rm(join(fresh.filesDir, name));
      publisher = new CompetingPublisher(fresh);
      await publisher.publish([first, second]);
    });
    const findings = async (...records: (typeof first)[]) => (await verifyPublished(fresh, records)).findings;

    it("accepts keys that each have one root with a file", async () => {
      await publisher.publish([third]);
      expect(await findings(first, second, third)).to.deep.equal([]);
    });

    it("finds a missing key", async () => {
      const [counts, lost] = await findings(first, second, third);
      expect(counts).to.equal("2 users have a root, 3 keys were to be published");
      expect(lost).to.equal(`The user ${third.userID} has no root.`);
    });

    it("finds a key that was published twice", async () => {
      const root = await publisher.publish([second, third]);
      expect(await findings(first, second, third)).to.deep.equal([`root ${root}: 2 users in its file, added for 1`]);
    });

    it("finds a root that was added twice", async () => {
      const root = await publisher.store([third, fourth]);
      for (const record of [third, fourth]) await publisher.untilIncluded(await publisher.add(root, [record]));
      const all = [first, second, third, fourth];
      expect(await findings(...all)).to.deep.equal([`root ${root}: 2 users in its file, added for 1 and 1`]);
    });

    it("finds a missing file and a file with a different key", async () => {
      const root = await publisher.publish([{ ...third, pubKey: fourth.pubKey, keyID: fourth.keyID }]);
      expect(await findings(first, second, third)).to.deep.equal([
        `The file ${root} has another key of ${third.userID}.`,
      ]);
      await rm(join(fresh.filesDir, `${root}.json`));
      expect(await findings(first, second, third)).to.deep.equal([
        `root ${root}: no users in its file, added for 1`,
        `The root ${root} of ${third.userID} has no file.`,
      ]);
    });
  });
});

/** Number of kills on each chain. */
const KILLS = isLarge ? 25 : 3;
/** Each service publishes while there are unpublished keys, with a short pause between two runs. */
const SCHEDULE = { every: isLarge ? 0.1 : 0.25, atLeast: 1 };
const SERVICES = 2;
const CONNECTIONS = 4;
const WORKERS = 4;
/** Pause of a worker between two users, in ms. */
const PAUSE_MS = isLarge ? 20 : 150;
/** The time between blocks in ms. It is long enough for another service to take over transactions of a killed one. */
const BLOCK_MS = { min: 100, max: 4000 };
/** Range of the random time in ms for which both services run before a kill. */
const WORK_MS = { min: 50, max: 1500 };

interface Outcome extends Pick<UserWorkload, "acknowledged" | "interrupted" | "findings"> {
  kills: number;
  /** Number of killed services that held the publisher's lease. */
  killedWhilePublishing: number;
  roots: number;
  /** Number of files without an added root, because the publisher was killed before it stored its plan. */
  filesWithoutRoot: number;
}

/**
 * Repeatedly kills one of two publishing services.
 * @param rpcUrl an endpoint that signs for its first account
 * @param createDatabase creates an empty database and returns its URL
 */
async function killPublishers(kills: number, rpcUrl: string, createDatabase: () => Promise<string>): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const deployment = await deployForService(cleanup, rpcUrl);
  const { folder, variables } = deployment;
  cleanup.use(await mineInIntervals(deployment.call));
  const environment = { ...(await serviceEnvironment({ createDatabase, folder }, CONNECTIONS)), ...variables };
  const databases = cleanup.use(await openDatabases({ url: environment.DATABASE_URL }));
  await runAt(environment.DATABASE_URL, RECORD_HOLDER);
  let starts = 0;
  const names: string[] = [];
  const start = (index: number) => {
    names[index] = `service-${starts++}`;
    const url = Object.assign(new URL(environment.DATABASE_URL), { search: `application_name=${names[index]}` });
    return startServiceProcess({ ...environment, DATABASE_URL: url.href }, SCHEDULE);
  };
  const services = cleanup.use(await Replicas.start(SERVICES, start));
  const partner = await new Caller(environment.KEYROOT_ADMIN_TOKEN, services.origin()).createPartner();
  const workload = new UserWorkload(() => services.origin(), partner);

  let killedWhilePublishing = 0;
  const load = cleanup.use(workload.start(WORKERS, PAUSE_MS));
  for (let i = 0; i < kills; i++) {
    await sleep(randomIn(WORK_MS));
    await services.killNext(async (index) => {
      if (await expireLeaseOf(databases.home, names[index] ?? "")) killedWhilePublishing++;
    });
  }
  await load.end();

  const { acknowledged, findings } = workload;
  await untilAllPublished(databases, findings);
  const { rootOf, roots, filesWithoutRoot, ...published } = await verifyPublished(deployment, workload.registered());
  findings.push(...published.findings);
  await workload.readBack((userID) => ({ state: "published", root: rootOf.get(userID) }));
  const { interrupted } = workload;
  return { kills, killedWhilePublishing, acknowledged, interrupted, roots, filesWithoutRoot, findings };
}

/** Mines blocks at random intervals, as on a real chain, instead of automatically. @returns a function that stops it */
async function mineInIntervals(call: RpcCall): Promise<AsyncDisposable> {
  await stopMining(call);
  const ending = new AbortController();
  const mining = (async () => {
    while (!ending.signal.aborted) {
      await sleep(randomIn(BLOCK_MS));
      await call("evm_mine", []);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await mining;
    },
  };
}

function randomIn({ min, max }: { min: number; max: number }): number {
  return min + Math.random() * (max - min);
}

/** SQL that makes the database record which service took the lease, by the name of the service's connections. */
const RECORD_HOLDER = `
  ALTER TABLE publisher_leases ADD held_by text;
  CREATE FUNCTION record_holder() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.held_by := current_setting('application_name'); RETURN NEW; END $$;
  CREATE TRIGGER record_holder BEFORE INSERT OR UPDATE OF fence ON publisher_leases
    FOR EACH ROW EXECUTE FUNCTION record_holder()`;

/** Expires the lease immediately, instead of after 30 s, if this service holds it. @returns whether it did */
async function expireLeaseOf(home: Database, name: string): Promise<boolean> {
  const expired = await home
    .update(publisherLeases)
    .set({ until: sql`clock_timestamp()` })
    .where(sql`held_by = ${name} AND ${publisherLeases.until} > clock_timestamp()`)
    .returning();
  return expired.length > 0;
}

async function untilAllPublished(databases: Databases, findings: string[]): Promise<void> {
  const deadline = performance.now() + ENDLESS_MS;
  for (;;) {
    const unpublished = await countPublishable(databases);
    if (unpublished === 0) return;
    if (performance.now() > deadline) {
      findings.push(`${unpublished} keys are still unpublished after ${ENDLESS_MS / 1000} s`);
      return;
    }
    await sleep(100);
  }
}
