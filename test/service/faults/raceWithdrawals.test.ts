/**
 * Users withdraw keys at one service while their partner discards the same keys at another one. Both services publish
 * at the same time with one PostgreSQL. Every key must be either removed or published. `FAULTS=large npm test --
 * test/service/faults/raceWithdrawals.test.ts` tries 1,000 keys.
 */
import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import { openDatabases } from "@keyroot/service";
import { AdminClient } from "@keyroot/client/operator";
import { KeyrootError } from "keyroot/internal/errors";
import { userIDToHex } from "keyroot/internal/identity";
import { readMerkleTreeRoots } from "keyroot/internal/registry";
import { startHardhat } from "../../support/chain/freshRegistry.ts";
import { Caller } from "../../support/service/caller.ts";
import { keyFieldsOf } from "../../support/service/answerChallenge.ts";
import { AppSession } from "../../support/service/falseRegistrations.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { FAULTS_TIMEOUT_MS, reported } from "../../support/faults.ts";
import { isLarge } from "../../support/testSize.ts";
import { sharedPostgres } from "../../support/postgres/sharedPostgres.ts";
import { deployForService } from "./load/deployForService.ts";

const KEYS = isLarge ? 1000 : 60;

describe("a key that is withdrawn, discarded and published at the same time", () => {
  it("is either removed or published, never both", async () => {
    const chain = await startHardhat();
    try {
      const postgres = await sharedPostgres();
      const racing = raceWithdrawals(KEYS, chain.url, () => postgres.createDatabase());
      const { removed, published, findings } = await reported(racing);
      expect(findings).to.deep.equal([]);
      expect(removed + published).to.equal(KEYS);
    } finally {
      await chain.close();
    }
  }).timeout(FAULTS_TIMEOUT_MS);
});

const BATCH = 50;
/** Time in ms within which removals begin, both before and after a publisher takes the keys. */
const SPREAD_MS = 500;
/** Time in ms within which publishers begin. */
const PUBLISHERS_SPREAD_MS = 50;
const CONNECTIONS = 8;
const CONCURRENCY = 8;

interface Outcome {
  /** Number of keys that were withdrawn or discarded and are not on the chain. */
  removed: number;
  /** Number of keys that are on the chain and could not be removed. */
  published: number;
  /** Keys that are neither removed nor published, or both. */
  findings: string[];
}

/** @param rpcUrl an endpoint that signs for its first account */
async function raceWithdrawals(keys: number, rpcUrl: string, createDatabase: () => Promise<string>): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const { call, contract, folder, variables } = await deployForService(cleanup, rpcUrl);
  const environment = { ...(await serviceEnvironment({ createDatabase, folder }, CONNECTIONS)), ...variables };
  const databases = cleanup.use(await openDatabases({ url: environment.DATABASE_URL }));
  const a = cleanup.use(await startServiceProcess(environment));
  const b = cleanup.use(await startServiceProcess(environment));
  const callerOf = ({ origin }: { origin: string }) => new Caller(environment.KEYROOT_ADMIN_TOKEN, origin);
  const partner = await callerOf(a).createPartner();
  const publish = async ({ origin: serviceUrl }: { origin: string }) => {
    await sleep(Math.random() * PUBLISHERS_SPREAD_MS);
    const admin = new AdminClient({ serviceUrl, adminToken: environment.KEYROOT_ADMIN_TOKEN });
    await admin.publishRegistered().catch((error: unknown) => {
      // The other service is publishing.
      if (!(error instanceof KeyrootError) || !/publisher/i.test(error.message)) throw error;
    });
  };

  const outcome: Outcome = { removed: 0, published: 0, findings: [] };
  for (let done = 0; done < keys; done += BATCH) {
    const sessions = await pMap(
      Array.from({ length: Math.min(BATCH, keys - done) }),
      async () => {
        const session = await AppSession.open(callerOf(a), partner, databases);
        await session.registerHonestly(session.own);
        return session;
      },
      { concurrency: CONCURRENCY },
    );
    const objections = sessions.map(async (session) => {
      const { key_id } = keyFieldsOf(session.own);
      await sleep(Math.random() * SPREAD_MS);
      const body = { user_id_hex: userIDToHex(session.userID), key_id };
      const discard = callerOf(b).post("/v1/authdBizSrv/publicKeys/discard", body, { token: partner.jwt });
      return Promise.all([session.withdraw(key_id), discard]);
    });
    const [answers] = await Promise.all([Promise.all(objections), publish(a), publish(b)]);
    // Finish the keys that a publisher had taken.
    await publish(a);
    const roots = await readMerkleTreeRoots(
      call,
      contract,
      sessions.map(({ userID }) => userID),
    );
    for (const [i, session] of sessions.entries()) {
      const statuses = (answers[i] ?? []).map(({ status }) => status);
      const isPublished = roots[i] !== undefined;
      const hasKey = await session.hasKey();
      const expected = isPublished ? 409 : 200;
      if (hasKey === isPublished && statuses.every((status) => status === expected)) {
        outcome[isPublished ? "published" : "removed"]++;
      } else {
        const found = `user ${session.userID}: withdrawn and discarded with ${statuses.join(", ")}`;
        outcome.findings.push(`${found}; root ${roots[i]}; ${hasKey ? "has" : "has no"} key`);
      }
    }
  }
  return outcome;
}
