/** Restores a publishing service's database to a point in time, and reconciles it with the chain. */
import { expect } from "chai";
import { audit, verdictOf } from "@keyroot/operator/audit";
import { openDatabases } from "@keyroot/service";
import { KeyPublisher } from "@keyroot/service/publisher";
import { generateKeyPair, type KeyRecord, REGIONS } from "keyroot/internal/identity";
import { type StartChain, startHardhat } from "../../support/chain/freshRegistry.ts";
import { LOCAL } from "../../support/chain/local.ts";
import { Caller } from "../../support/service/caller.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { deployForService } from "./load/deployForService.ts";
import { Replicas } from "./load/replicas.ts";
import { runAt } from "../../support/postgres/postgres.ts";
import { verifyPublished } from "./load/verifyPublished.ts";
import { AppUser } from "./restore/app.ts";
import { BackedUpPostgres } from "./restore/backup.ts";
import { describeFaults, FAULTS_TIMEOUT_MS, reported } from "../../support/faults.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

describeFaults("a database that was restored to an earlier time", () => {
  it("has every published key again after reconcile", async () => {
    const { findings, audit, reconciled } = await reported(restoreDrill());
    expect(findings).to.deep.equal([]);
    expect(audit).to.equal("passed");
    expect(reconciled).to.deep.include({ recorded: 12, replaced: 6, added: 6, unknownUsers: 12, differences: [] });
  }).timeout(FAULTS_TIMEOUT_MS);
});

const USERS_PER_GROUP = 6;

/** Groups of users, by their changes before and after the point in time to which the database is restored. */
const GROUPS = [
  /** Keys were published before the base backup, or between the backup and the point in time. */
  ...["published", "publishedAfterBackup"],
  /** Keys were in an unfinished plan at that time, which was finished later. */
  "planned",
  /** Keys were registered before that time, and published after it. */
  "pending",
  /** Users were created before that time. Their keys were registered and published after it. */
  "unregistered",
  /** Users registered one key before that time. After it, they withdrew it and published another key. */
  "changed",
  /** Users were created, registered and published after that time, so the restored database does not contain them. */
  ...["unknown", "unknownWithOtherKey"],
  /** Users were created and registered after that time, but not published. */
  "lost",
] as const;
type Group = (typeof GROUPS)[number];

interface Drill {
  reconciled: { recorded: number; replaced: number; added: number; unknownUsers: number };
  audit: string;
  /** Number of events `key.published` that were missing in the restored database and are in the outbox again. */
  republished: number;
  seconds: { restore: number; total: number };
  findings: string[];
}

async function restoreDrill(startChain: StartChain = startHardhat): Promise<Drill> {
  const started = performance.now();
  await using cleanup = new AsyncDisposableStack();
  const findings: string[] = [];
  const chain = await startChain();
  cleanup.defer(() => chain.close());
  const deployment = await deployForService(cleanup, chain.url);
  const { call, contract, owner, filesDir, variables } = deployment;
  const postgres = cleanup.use(await BackedUpPostgres.start());
  const environment = { ...(await serviceEnvironment(postgres.server, 8)), ...variables };
  const service = cleanup.use(await Replicas.start(1, () => startServiceProcess(environment)));
  const caller = new Caller(environment.KEYROOT_ADMIN_TOKEN, service.origin());
  const publish = () => caller.admin("/v1/admin/publishRegistered", {});
  const partner = await caller.createPartner();
  const groups = {} as Record<Group, AppUser[]>;
  for (const group of GROUPS)
    groups[group] = Array.from({ length: USERS_PER_GROUP }, (_, i) => {
      return new AppUser(caller, partner, REGIONS[i % REGIONS.length] ?? REGIONS[0]);
    });
  /** The keys that must be on the chain at the end. */
  const published = new Map<string, KeyRecord>();
  const create = async (...names: Group[]) => {
    for (const user of names.flatMap((name) => groups[name])) await user.create();
  };
  const register = async (...names: Group[]) => {
    for (const user of names.flatMap((name) => groups[name])) published.set(user.userID, await user.register());
  };

  // Create users before the base backup, during it, and after it.
  await create("published");
  await register("published");
  await publish();
  await Promise.all([postgres.backUp(), create("publishedAfterBackup", "planned", "pending")]);
  await create("unregistered", "changed");
  await register("publishedAfterBackup");
  await publish();
  await register("planned");
  await interruptPublishing(environment.DATABASE_URL, { rpcUrl: chain.url, contract, files: filesDir, owner });
  await register("pending", "changed");
  const time = await postgres.now();

  // The restored database lacks these changes.
  for (const user of groups.changed) await user.withdraw(published.get(user.userID) ?? missing(user));
  await create("unknown", "unknownWithOtherKey");
  await register("changed", "unregistered", "unknown", "unknownWithOtherKey");
  await publish();
  const after = await forgottenEvents(environment.DATABASE_URL, time);
  await create("lost");
  for (const user of groups.lost) await user.register();

  const lost = performance.now();
  let reconciled = {} as Awaited<ReturnType<typeof reconcile>>;
  await service.killNext(async () => {
    await postgres.lose();
    await postgres.restore(time);
    const forgotten = await countKeys(environment.DATABASE_URL);
    const expected = 5 * USERS_PER_GROUP;
    if (forgotten !== expected) findings.push(`the restored database has ${forgotten} keys, expected ${expected}`);
    reconciled = await reconcile(environment.DATABASE_URL, { rpcUrl: chain.url, contract, files: filesDir });
  });
  caller.url = service.origin();
  const restoreMs = performance.now() - lost;
  findings.push(...(await findReconciled(groups, published)));

  // Partners create users again that the database has lost. Some of these users register again.
  await create("unknown", "unknownWithOtherKey", "lost");
  for (const user of groups.unknownWithOtherKey) await user.register(generateKeyPair());
  for (const user of groups.lost) published.set(user.userID, await user.register());
  await publish();
  // Publishing found the keys of these users on the chain.
  for (const user of groups.unknownWithOtherKey)
    findings.push(...(await compare("after publishing", user, published.get(user.userID))));
  // The database contains the users again, but their apps do not register again.
  await reconcile(environment.DATABASE_URL, { rpcUrl: chain.url, contract, files: filesDir });

  for (const group of GROUPS)
    for (const user of groups[group]) findings.push(...(await compare(group, user, published.get(user.userID))));
  const state = await verifyPublished(deployment, [...published.values()]);
  findings.push(...state.findings, ...(await findUnfinished(environment.DATABASE_URL)));
  const again = await forgottenEvents(environment.DATABASE_URL, time);
  const republished = [...after].filter((user) => again.has(user));
  if (republished.length !== after.size)
    findings.push(`${after.size - republished.length} users without their event key.published`);
  const report = await audit({
    call,
    contract,
    chainId: LOCAL.chainId,
    files: { dir: filesDir, maxBytes: 2 ** 24, timeoutMs: ENDLESS_MS },
    workers: 0,
  });
  if (verdictOf(report) !== "passed") findings.push(...report.findings.list.map(({ message }) => message));
  return {
    reconciled: { ...reconciled, unknownUsers: reconciled.unknownUsers.length },
    audit: verdictOf(report),
    republished: republished.length,
    seconds: { restore: seconds(restoreMs), total: seconds(performance.now() - started) },
    findings,
  };
}

interface Target {
  rpcUrl: string;
  contract: string;
  files: string;
}

function publisherOver(databases: Awaited<ReturnType<typeof openDatabases>>, target: Target, owner?: string) {
  const { rpcUrl, contract, files } = target;
  const sign = () => Promise.reject(new Error("The signer is unreachable."));
  const signer = owner === undefined ? undefined : { address: owner, sign };
  const chain = { rpcUrl, contract, chainId: LOCAL.chainId, limits: "local", confirmations: 1 } as const;
  const places = { "us-west-2": files, "eu-west-1": files };
  return new KeyPublisher(databases, { ...chain, files: places }, signer);
}

/** Leaves a plan unfinished, without any sent transaction. */
async function interruptPublishing(url: string, { owner, ...target }: Target & { owner: string }): Promise<void> {
  await using databases = await openDatabases({ url });
  const failed = await publisherOver(databases, target, owner)
    .publish()
    .then(
      () => false,
      () => true,
    );
  if (!failed) throw new Error("Publishing was not interrupted.");
}

async function reconcile(url: string, target: Target) {
  await using databases = await openDatabases({ url });
  return await publisherOver(databases, target).reconcile();
}

/** Checks that every published key has the state `published`, except keys of users who are missing in the database. */
async function findReconciled(groups: Record<Group, AppUser[]>, published: Map<string, KeyRecord>): Promise<string[]> {
  const known = [
    ...["published", "publishedAfterBackup", "planned", "pending"],
    ...["unregistered", "changed"],
  ] as const satisfies Group[];
  const findings: string[] = [];
  for (const group of known)
    for (const user of groups[group]) {
      // Tokens of users who were created before the point in time are still valid.
      findings.push(...(await compare(`${group}, after reconcile`, user, published.get(user.userID))));
    }
  return findings;
}

async function compare(what: string, user: AppUser, record: KeyRecord | undefined): Promise<string[]> {
  const { public_key: pubKey, key_id: keyID, state } = await user.read();
  if (state === "published" && pubKey === record?.pubKey && keyID === record?.keyID) return [];
  return [`${what}: user ${user.userID} has the key ${String(keyID)}, ${String(state)}, expected ${record?.keyID}`];
}

async function countKeys(url: string): Promise<number> {
  const [row] = await runAt<{ keys: number }>(url, "SELECT count(*)::int AS keys FROM public_keys");
  return row?.keys ?? 0;
}

/** Returns the users with a `key.published` event after a time. */
async function forgottenEvents(url: string, time: string): Promise<Set<string>> {
  const text = `SELECT user_id FROM events WHERE type = 'key.published' AND at > extract(epoch FROM $1::timestamptz) * 1000`;
  return new Set((await runAt<{ user_id: string }>(url, text, [time])).map(({ user_id }) => user_id));
}

/** Lists plans, leases, and keys that are neither pending nor published. */
async function findUnfinished(url: string): Promise<string[]> {
  const [row] = await runAt<Record<"plans" | "keys" | "leases", number>>(
    url,
    `SELECT (SELECT count(*) FROM plans)::int AS plans,
      (SELECT count(*) FROM public_keys LEFT JOIN batches USING (root) WHERE block_number IS NULL)::int AS keys,
      (SELECT count(*) FROM publisher_leases WHERE until > clock_timestamp())::int AS leases`,
  );
  return Object.entries(row ?? {}).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name} are unfinished`]));
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function missing(user: AppUser): never {
  throw new Error(`The user ${user.userID} has no key.`);
}
