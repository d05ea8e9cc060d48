/**
 * Kills services that publish by SIGKILL, at random moments: two of them over one PostgreSQL, while users register their
 * keys. `npm run kill:publishing [kills]`, 50 by default, half of them on Hardhat's chain and half on Anvil where there is
 * one. At the end every key that was acknowledged must have exactly one root, every root its file, as judged by code that
 * shares nothing with the publisher. It prints one line of JSON, and exits with 1 when anything is not as it should be.
 */
import { sql } from "drizzle-orm";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { REGIONS } from "keyroot/identity";
import { type Database, openDatabases } from "@keyroot/operator/service";
import { PublicKeyStore } from "@keyroot/operator/service";
import { publisherLeases } from "@keyroot/operator/service";
import { type RpcCall, rpcCaller } from "keyroot/transport";
import { hasAnvil, startAnvil } from "../fixtures/anvil/anvil.ts";
import { stopMining } from "../fixtures/anvil/anvilControl.ts";
import type { Deployment } from "../fixtures/publisher/deployment.ts";
import { runAt, startPostgres } from "../fixtures/postgres/postgres.ts";
import { deployOn, startHardhat } from "../fixtures/freshRegistry.ts";
import { type Keyroot, keyrootSettings, makePartner, startKeyroot } from "../fixtures/service/serviceProcess.ts";
import { judgePublished } from "./killing/judgePublished.ts";
import { UsersAtWork } from "./killing/usersAtWork.ts";

/** What each service does whenever it is not publishing: it waits a moment, and publishes whatever waits. */
const SCHEDULE = { every: 0.1, atLeast: 1 };
const SERVICES = 2;
const CONNECTIONS = 4;
const WORKERS = 4;
/** How long a worker rests between two users, in ms. */
const REST = 20;
/** How long a block takes, in ms. Within the longest, another takes over what the killed one has under way. */
const BLOCK = { least: 100, most: 4000 };
/** How long both services are at work before a kill, in ms: any moment in between. */
const WORK = { least: 50, most: 1500 };
/** How long they have for what is left in the end, in ms. */
const PATIENCE = 60_000;

/** What came of it. */
export interface Outcome extends Pick<UsersAtWork, "acknowledged" | "interrupted" | "findings"> {
  kills: number;
  /** How many of those killed were publishing then: the lease was theirs. */
  killedAtWork: number;
  /** How many roots were added. */
  roots: number;
  /** How many files no root was added for: the one who had stored them was killed before the plan was kept. */
  filesWithoutRoot: number;
}

/**
 * Kills one of two publishing services so many times.
 * @param rpcUrl a chain's endpoint, which holds the key of its first account
 * @param createDatabase makes an empty database, and tells its address
 */
export async function killPublishers(
  kills: number,
  rpcUrl: string,
  createDatabase: () => Promise<string>,
): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "keyroot-kill-"));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const field = await openField(rpcUrl, join(folder, "files"));
  cleanup.use(await mineByTheClock(field.call));
  const settings = {
    ...(await keyrootSettings({ createDatabase, folder }, CONNECTIONS)),
    KEYROOT_RPC_URL: rpcUrl,
    KEYROOT_CONTRACT: field.contract,
    KEYROOT_FILES: field.merkleDir,
  };
  const databases = cleanup.use(await openDatabases({ url: settings.DATABASE_URL }));
  await runAt(settings.DATABASE_URL, NOTE_TAKER);
  let starts = 0;
  const start = async () => {
    const name = `service-${starts++}`;
    const { href } = Object.assign(new URL(settings.DATABASE_URL), { search: `application_name=${name}` });
    return { name, ...(await startKeyroot({ ...settings, DATABASE_URL: href }, SCHEDULE)) };
  };
  const services: (Keyroot & { name: string })[] = [];
  cleanup.defer(async () => {
    for (const service of services) await service[Symbol.asyncDispose]();
  });
  services.push(...(await Promise.all(Array.from({ length: SERVICES }, start))));
  let requests = 0;
  const origin = () => services[requests++ % SERVICES]?.origin ?? "";
  const users = new UsersAtWork(origin, await makePartner(origin(), settings.KEYROOT_ADMIN_TOKEN));

  const working = new AbortController();
  const work = Promise.all(Array.from({ length: WORKERS }, (_, i) => provisionUntil(working.signal, users, i)));
  let killedAtWork = 0;
  try {
    for (let i = 0; i < kills; i++) {
      await sleep(between(WORK));
      const victim = Math.floor(Math.random() * SERVICES);
      await services[victim]?.kill();
      if (await runOut(databases.home, services[victim]?.name ?? "")) killedAtWork++;
      services[victim] = await start();
    }
  } finally {
    working.abort();
    await work;
  }

  const { acknowledged, findings } = users;
  const keys = new PublicKeyStore(databases);
  await untilAllPublished(keys, findings);
  const { rootOf, roots, filesWithoutRoot, ...judged } = await judgePublished(field, users.registered());
  findings.push(...judged.findings);
  await users.readBack((userID) => ({ state: "published", root: rootOf.get(userID) }));
  return { kills, killedAtWork, acknowledged, interrupted: users.interrupted, roots, filesWithoutRoot, findings };
}

async function openField(rpcUrl: string, merkleDir: string): Promise<Deployment> {
  const call = rpcCaller(rpcUrl, { maxBytes: 2 ** 24, timeoutMs: 30_000 });
  const [owner = ""] = (await call("eth_accounts", [])) as string[];
  await mkdir(merkleDir);
  return { call, contract: await deployOn(call, owner), owner, merkleDir };
}

/** From now on a block comes when its time has come, as on a real chain. @returns ends that */
async function mineByTheClock(call: RpcCall): Promise<AsyncDisposable> {
  await stopMining(call);
  const ending = new AbortController();
  const mining = (async () => {
    while (!ending.signal.aborted) {
      await sleep(between(BLOCK));
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

/** Registers one user after the other, by turns in each region. */
async function provisionUntil(signal: AbortSignal, users: UsersAtWork, first: number): Promise<void> {
  for (let i = first; !signal.aborted; i++) {
    await users.provision(REGIONS[i % REGIONS.length] ?? REGIONS[0]);
    await sleep(REST);
  }
}

/** Anything in between. */
function between({ least, most }: { least: number; most: number }): number {
  return least + Math.random() * (most - least);
}

/** Has the database note which service took the lease, by the name of its connections. */
const NOTE_TAKER = `
  ALTER TABLE publisher_leases ADD taken_by text;
  CREATE FUNCTION note_taker() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.taken_by := current_setting('application_name'); RETURN NEW; END $$;
  CREATE TRIGGER note_taker BEFORE INSERT OR UPDATE OF fence ON publisher_leases
    FOR EACH ROW EXECUTE FUNCTION note_taker()`;

/** Lets the lease run out now, instead of in half a minute, where this service has it. @returns whether it had */
async function runOut(home: Database, name: string): Promise<boolean> {
  const had = await home
    .update(publisherLeases)
    .set({ until: sql`clock_timestamp()` })
    .where(sql`taken_by = ${name} AND ${publisherLeases.until} > clock_timestamp()`)
    .returning();
  return had.length > 0;
}

async function untilAllPublished(keys: PublicKeyStore, findings: string[]): Promise<void> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    let waiting = 0;
    for (const region of REGIONS) waiting += await keys.countUnpublished(region);
    if (waiting === 0) return;
    if (performance.now() > end) {
      findings.push(`${waiting} keys still wait after ${PATIENCE / 1000} s`);
      return;
    }
    await sleep(100);
  }
}

if (import.meta.main) {
  const kills = Number(process.argv[2] ?? 50);
  const start = performance.now();
  const postgres = await startPostgres();
  const findings: string[] = [];
  const chains: Record<string, Omit<Outcome, "findings">> = {};
  try {
    const all = Object.entries({ hardhat: startHardhat, ...(hasAnvil && { anvil: startAnvil }) });
    for (const [i, [name, startChain]] of all.entries()) {
      const chain = await startChain();
      try {
        const share = Math.ceil((kills - i) / all.length);
        const { findings: found, ...outcome } = await killPublishers(share, chain.url, () => postgres.createDatabase());
        findings.push(...found.map((finding) => `${name}: ${finding}`));
        chains[name] = outcome;
      } finally {
        await chain.close();
      }
    }
  } finally {
    await postgres.stop();
  }
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ kills, chains, findings: findings.length, seconds })}\n`);
  for (const finding of findings) process.stderr.write(`${finding}\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
