/**
 * Lets users, their partner and a publisher race for the same keys, over two services and one PostgreSQL: users withdraw keys
 * at one service, the partner discards them at the other, and both services publish at the same time.
 * `npm run race:withdrawals [keys]`, 1,000 by default. Every key must be either removed or published, and never both. Prints
 * one line of JSON. Exit code 1 if anything is wrong.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import { openDatabases } from "@keyroot/operator/service";
import { AdminClient } from "keyroot/admin";
import { KeyrootError } from "keyroot/errors";
import { userIDToHex } from "keyroot/identity";
import { readMerkleTreeRoots } from "keyroot/registry";
import { rpcCaller } from "keyroot/transport";
import { LOCAL } from "../fixtures/local.ts";
import { deployOn, startHardhat } from "../fixtures/freshRegistry.ts";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { keyFieldsOf } from "../fixtures/service/answerChallenge.ts";
import { AppSession } from "../fixtures/service/falseRegistrations.ts";
import { createPartner, post, serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { numberArguments } from "./numberArguments.ts";

/** Keys of one round. */
const BATCH = 50;
/** Objections begin within this time: before and after a publisher takes the keys. */
const SPREAD_MS = 500;
/** Publishers begin within this time. */
const PUBLISHERS_SPREAD_MS = 50;
const CONNECTIONS = 8;
const CONCURRENCY = 8;

export interface Outcome {
  /** Keys that were withdrawn or discarded, and are not on the chain. */
  removed: number;
  /** Keys that are on the chain, and could not be removed. */
  published: number;
  /** Keys for which neither holds, or both. */
  findings: string[];
}

/** @param rpcUrl an endpoint that signs for its first account */
export async function raceWithdrawals(
  keys: number,
  rpcUrl: string,
  createDatabase: () => Promise<string>,
): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "keyroot-race-"));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const files = join(folder, "files");
  await mkdir(files);
  const call = rpcCaller(rpcUrl, { maxBytes: 2 ** 24, timeoutMs: 30_000 });
  const [owner = ""] = (await call("eth_accounts", [])) as string[];
  const contract = await deployOn(call, owner);
  const environment = {
    ...(await serviceEnvironment({ createDatabase, folder }, CONNECTIONS)),
    ...{ KEYROOT_RPC_URL: rpcUrl, KEYROOT_CONTRACT: contract, KEYROOT_CHAIN_ID: String(LOCAL.chainId) },
    KEYROOT_FILES: files,
  };
  const databases = cleanup.use(await openDatabases({ url: environment.DATABASE_URL }));
  const a = cleanup.use(await startServiceProcess(environment));
  const b = cleanup.use(await startServiceProcess(environment));
  const partner = await createPartner(a.origin, environment.KEYROOT_ADMIN_TOKEN);
  const publish = async ({ origin: baseUrl }: { origin: string }) => {
    await sleep(Math.random() * PUBLISHERS_SPREAD_MS);
    const admin = new AdminClient({ baseUrl, adminToken: environment.KEYROOT_ADMIN_TOKEN });
    await admin.publish().catch((error: unknown) => {
      // The other service publishes.
      if (!(error instanceof KeyrootError) || !/publisher/i.test(error.message)) throw error;
    });
  };

  const outcome: Outcome = { removed: 0, published: 0, findings: [] };
  for (let done = 0; done < keys; done += BATCH) {
    const sessions = await pMap(
      Array.from({ length: Math.min(BATCH, keys - done) }),
      async () => {
        const session = await AppSession.open(a.origin, partner, databases);
        await session.registerHonestly(session.own);
        return session;
      },
      { concurrency: CONCURRENCY },
    );
    const objections = sessions.map(async (session) => {
      const { keyID } = keyFieldsOf(session.own);
      await sleep(Math.random() * SPREAD_MS);
      const body = { user_id_hex: userIDToHex(session.userID), keyID };
      const discard = `${b.origin}/v1/authdBizSrv/publicKeys/discard`;
      return Promise.all([session.withdraw(keyID), post(discard, body, { accessToken: partner.accessToken })]);
    });
    const [answers] = await Promise.all([Promise.all(objections), publish(a), publish(b)]);
    // Finishes what a publisher had taken.
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

if (import.meta.main) {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres();
  cleanup.defer(() => postgres.stop());
  const chain = await startHardhat();
  cleanup.defer(() => chain.close());
  const [keys] = numberArguments(1000);
  const outcome = await raceWithdrawals(keys, chain.url, () => postgres.createDatabase());
  process.stdout.write(`${JSON.stringify({ keys, ...outcome })}\n`);
  if (outcome.findings.length > 0) process.exitCode = 1;
}
