import { expect } from "chai";
import { eq } from "drizzle-orm";
import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Region, REGIONS } from "../../../packages/keyroot/src/identity/region.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import type { Signer } from "../../../packages/operator/src/publisher/signers/signer.ts";
import { readMerkleTreeRoots } from "../../../packages/keyroot/src/registry/readMerkleTreeRoots.ts";
import { SERVICE } from "../../../packages/operator/src/service/store/changes.ts";
import { toServiceError } from "../../../packages/operator/src/service/http/problem.ts";
import { type Fenced, withLease } from "../../../packages/operator/src/service/publishing/lease.ts";
import { type ChainConfig, KeyPublisher } from "../../../packages/operator/src/service/publishing/keyPublisher.ts";
import { type Databases, openDatabases } from "../../../packages/operator/src/service/store/database.ts";
import {
  attempts,
  batches as batchTable,
  batchShares,
  offeredKeys,
  plans,
  publisherLeases,
} from "../../../packages/operator/src/service/store/tables.ts";
import { PublicKeyStore } from "../../../packages/operator/src/service/store/publicKeys.ts";
import { UserStore } from "../../../packages/operator/src/service/store/users.ts";
import { verifyPublicKey } from "../../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { describeOnBoth, freshRegistry } from "../../../fixtures/freshRegistry.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { failure, never, temporaryFolder } from "../../support/support.ts";
import { program, signalGroup, untilGroupIsGone } from "../../support/commandLine.ts";
import { freshDatabases, freshDatabaseUrl, SIGNING_JWK } from "../../support/service/support.ts";

describe("the publisher's lease", () => {
  let databases: Databases;
  beforeEach(async () => {
    databases = await freshDatabases();
  });
  afterEach(() => databases[Symbol.asyncDispose]());

  const hold = async (seconds?: number) => {
    let release: () => void = () => undefined;
    const holding = Promise.withResolvers<Fenced>();
    const ended = withLease(
      databases.home,
      async (fenced) => {
        holding.resolve(fenced);
        await new Promise<void>((resolve) => (release = resolve));
      },
      seconds,
    );
    ended.catch(holding.reject);
    return { fenced: await holding.promise, release: () => (release(), ended) };
  };

  it("is held by one publisher at a time, and by the next one after its release", async () => {
    const first = await hold();
    const error = await failure(hold());
    expect(error).to.include({ code: "PUBLISHER_RUNNING" });
    // What POST /v1/admin/publish returns then.
    expect(toServiceError(error)).to.include({ status: 409, code: "PUBLISHER_RUNNING" });
    await first.release();
    await (await hold()).release();
  });

  it("is renewed while its holder works, however long that takes", async () => {
    const first = await hold(1);
    await sleep(2500);
    expect(await failure(hold(1))).to.include({ code: "PUBLISHER_RUNNING" });
    await first.release();
  });

  it("expires without renewals, and rejects what the old holder writes afterwards", async () => {
    const first = await hold(-1);
    const second = await hold();
    const write = (fenced: Fenced) =>
      fenced((transaction) => transaction.insert(attempts).values({ region: "us-west-2", attempt: "{}" }));
    expect(await failure(write(first.fenced))).to.include({ code: "PUBLISHER_RUNNING" });
    await write(second.fenced);
    expect(await databases.home.select().from(attempts)).to.have.lengthOf(1);
    await second.release();
    await first.release();
  });

  it("rejects what a holder writes after a restore, although its fence was handed out again", async () => {
    const lease = await hold();
    // As a backup from before the lease was taken.
    await databases.home.update(publisherLeases).set({ fence: 0, holder: randomUUID(), until: new Date(0) });
    const next = await hold();
    const [{ fence } = never()] = await databases.home.select().from(publisherLeases);
    expect(fence).to.equal(1);
    const write = (fenced: Fenced) =>
      fenced((transaction) => transaction.insert(attempts).values({ region: "us-west-2", attempt: "{}" }));
    expect(await failure(write(lease.fenced))).to.include({ code: "PUBLISHER_RUNNING" });
    await write(next.fenced);
    await lease.release();
    await write(next.fenced);
    await next.release();
  });
});

describeOnBoth("publishing from the service", (startChain) => {
  const fresh = freshRegistry(startChain);
  const folder = temporaryFolder();
  let url: string;
  let databases: Databases;
  beforeEach(async () => {
    url = await freshDatabaseUrl();
    databases = await openDatabases({ url });
    await databases.migrate();
  });
  afterEach(() => databases[Symbol.asyncDispose]());

  const filesOf = (region: Region) => `${folder.path}/${region}`;
  const chain = (): ChainConfig => ({
    rpcUrl: fresh.rpcUrl,
    contract: fresh.contract,
    chainId: fresh.chainId,
    limits: "local",
    confirmations: 1,
    files: { "us-west-2": filesOf("us-west-2"), "eu-west-1": filesOf("eu-west-1") },
  });
  const publisherOver = (open: Databases, signer?: Signer) => new KeyPublisher(open, chain(), signer);
  const unreachableSigner = (): Signer => ({
    address: fresh.owner,
    sign: () => Promise.reject(new Error("the signer is unreachable")),
  });
  const rootsOf = (records: readonly KeyRecord[]) =>
    readMerkleTreeRoots(
      fresh.call,
      fresh.contract,
      records.map(({ userID }) => userID),
    );

  /** Registers keys, in alternating regions. */
  const register = async (records: readonly KeyRecord[]) => {
    const users = new UserStore(databases, { bucketPrefix: "keyroot", stage: "test" });
    const keys = new PublicKeyStore(databases);
    for (const [i, record] of records.entries()) {
      const region = REGIONS[i % 2] ?? REGIONS[0];
      const user = { userID: record.userID, bizID: "biz_test", region };
      await users.create(user.bizID, user.userID, region, 1, SERVICE);
      const registration = { registered: 1, publishableAt: 1, possession: "proven" } as const;
      await keys.add(databases.regions[region], user, record, registration, SERVICE);
    }
  };
  const stateOf = async ({ userID }: KeyRecord, i: number) =>
    new PublicKeyStore(databases).get(REGIONS[i % 2] ?? REGIONS[0], userID);

  it("publishes each region's keys in the region's store, and records root and transaction", async () => {
    const records = sampleRecords(5);
    await register(records);
    expect(await publisherOver(databases).countPublishable()).to.equal(5);
    const batches = await publisherOver(databases).publish();
    expect(batches.map(({ users }) => users)).to.deep.equal([3, 2]);
    expect(await rootsOf(records)).to.deep.equal(records.map((_, i) => batches[i % 2]?.root));
    for (const [i, record] of records.entries()) {
      const { root, transaction } = batches[i % 2] ?? {};
      const published = { ...record, possession: "proven", publishableAt: 1, state: "published", root, transaction };
      expect(await stateOf(record, i)).to.deep.equal(published);
    }
    expect(await readdir(filesOf("us-west-2"))).to.deep.equal([`${batches[0]?.root}.json`]);
    expect(await readdir(filesOf("eu-west-1"))).to.deep.equal([`${batches[1]?.root}.json`]);
    expect(await publisherOver(databases).publish()).to.deep.equal([]);
    expect(await databases.home.select().from(plans)).to.be.empty;
  });

  it("takes no key and records nothing if the endpoint is of another chain", async () => {
    const [record = never()] = sampleRecords(1);
    await register([record]);
    const elsewhere = new KeyPublisher(databases, { ...chain(), chainId: fresh.chainId + 1 }, undefined);
    expect(await failure(elsewhere.publish())).to.include({ code: "CHAIN_ID_MISMATCH" });
    expect(await failure(elsewhere.reconcile())).to.include({ code: "CHAIN_ID_MISMATCH" });
    expect(await stateOf(record, 0)).to.include({ state: "pending" });
  });

  it("records the gas and cost of each batch's transaction, and each partner's users in it", async () => {
    const records = sampleRecords(3);
    await register(records);
    for (const { root, transaction, users } of await publisherOver(databases).publish()) {
      const receipt = (await fresh.call("eth_getTransactionReceipt", [transaction])) as Record<string, string>;
      const [gas, price] = [BigInt(receipt["gasUsed"] ?? 0), BigInt(receipt["effectiveGasPrice"] ?? 0)];
      const [batch] = await databases.home.select().from(batchTable).where(eq(batchTable.root, root));
      expect(batch).to.include({ gasUsed: Number(gas), cost: gas * price, addedCount: users });
      expect(batch?.confirmed).to.be.closeTo(Date.now(), 60_000);
      const shares = await databases.home.select().from(batchShares).where(eq(batchShares.root, root));
      expect(shares.map((share) => [share.bizID, share.users])).to.deep.equal([["biz_test", users]]);
    }
  });

  it("counts the users of batches that an earlier version recorded", async () => {
    await register(sampleRecords(3));
    await publisherOver(databases).publish();
    const before = await databases.home.select().from(batchShares).orderBy(batchShares.root);
    expect(before.map(({ users }) => users).sort()).to.deep.equal([1, 2]);
    await databases.home.delete(batchShares);
    await publisherOver(databases).publish();
    expect(await databases.home.select().from(batchShares).orderBy(batchShares.root)).to.deep.equal(before);
  });

  it("leaves the keys of an interrupted plan submitted, and finishes the plan with its own root", async () => {
    const records = sampleRecords(3);
    await register(records);
    const stuck = publisherOver(databases, unreachableSigner());
    expect(await failure(stuck.publish())).to.have.property("message", "the signer is unreachable");
    const submitted = await stateOf(records[0] ?? never(), 0);
    expect(submitted).to.include({ state: "submitted" });
    await publisherOver(databases).publish();
    expect(await stateOf(records[0] ?? never(), 0)).to.include({ state: "published", root: submitted?.root });
  });

  it("rebuilds a lost file of its plan from the registered keys", async () => {
    const records = sampleRecords(2);
    await register(records);
    await failure(publisherOver(databases, unreachableSigner()).publish());
    const [name = ""] = await readdir(filesOf("us-west-2"));
    const path = `${filesOf("us-west-2")}/${name}`;
    const whole = await readFile(path, "utf8");
    await rm(path);
    // Registered later, so not part of the plan.
    await register(sampleRecords(4).slice(2));
    const batches = await publisherOver(databases).publish();
    expect(batches.map(({ users }) => users)).to.deep.equal([1, 1, 2]);
    expect(await readFile(path, "utf8")).to.equal(whole);
    expect(await stateOf(records[0] ?? never(), 0)).to.include({ state: "published", root: name.slice(0, 64) });
  });

  it("publishes keys again that a reorganization removed", async () => {
    const records = sampleRecords(2);
    await register(records);
    const snapshot = await fresh.call("evm_snapshot", []);
    await publisherOver(databases).publish();
    await fresh.call("evm_revert", [snapshot]);
    expect(await rootsOf(records)).to.deep.equal([undefined, undefined]);
    await publisherOver(databases).publish();
    expect(await rootsOf(records)).to.not.include(undefined);
  });

  it("records the root of a user whom another publisher published", async () => {
    const [record = never(), ...others] = sampleRecords(3);
    await register([record]);
    await publisherOver(databases).publish();
    const earlier = await stateOf(record, 0);
    // A new database, as after a restore from an older backup.
    const restored = await freshDatabases();
    await databases[Symbol.asyncDispose]();
    databases = restored;
    await register([record, ...others]);
    await publisherOver(databases).publish();
    expect(await stateOf(record, 0)).to.deep.equal(earlier);
    expect(await rootsOf([record])).to.deep.equal([earlier?.root]);
  });

  describe("after a restore, when users registered other keys than those on the chain", () => {
    const [first = never(), second = never(), third = never()] = sampleRecords(3);
    const replaced = { ...first, pubKey: third.pubKey, keyID: third.keyID };
    beforeEach(async () => {
      await register([first, second]);
      await publisherOver(databases).publish();
      const restored = await freshDatabases();
      await databases[Symbol.asyncDispose]();
      databases = restored;
    });
    const found = async () => {
      const key = await stateOf(first, 0);
      return { keyID: key?.keyID, pubKey: key?.pubKey, state: key?.state, root: key?.root };
    };
    const expected = async () => {
      const [root] = await rootsOf([first]);
      return { keyID: first.keyID, pubKey: first.pubKey, state: "published", root };
    };

    it("publishing records the keys that are on the chain", async () => {
      await register([replaced]);
      await publisherOver(databases).publish();
      expect(await found()).to.deep.equal(await expected());
      expect(await databases.regions["us-west-2"].select().from(offeredKeys)).to.containSubset([
        { userID: first.userID, keyID: third.keyID },
      ]);
    });

    it("reconciling records them, those of users without a key too, and names the users that are unknown", async () => {
      await register([replaced]);
      const reconciled = await publisherOver(databases).reconcile();
      const none = { recorded: 0, missingFiles: [] };
      expect(reconciled).to.deep.equal({ ...none, roots: 2, replaced: 1, added: 0, unknownUsers: [second.userID] });
      expect(await found()).to.deep.equal(await expected());
      const users = new UserStore(databases, { bucketPrefix: "keyroot", stage: "test" });
      await users.create("biz_test", second.userID, "eu-west-1", 1, SERVICE);
      const again = { ...none, roots: 2, replaced: 0, added: 1, unknownUsers: [] };
      expect(await publisherOver(databases).reconcile()).to.deep.equal(again);
      expect(await stateOf(second, 1)).to.include({ state: "published", keyID: second.keyID });
      expect(await publisherOver(databases).reconcile()).to.deep.equal({ ...again, added: 0 });
    });

    it("reconciling names the roots whose file is missing", async () => {
      const [root] = await rootsOf([first]);
      await rm(`${filesOf("us-west-2")}/${root}.json`);
      expect(await publisherOver(databases).reconcile()).to.deep.include({ missingFiles: [root] });
    });
  });

  it("publishes on schedule with serve --every", async () => {
    const records = sampleRecords(2);
    await register(records);
    const keys = `${folder.path}/keys.json`;
    await writeFile(keys, JSON.stringify({ keys: [SIGNING_JWK] }), { mode: 0o600 });
    const service = program.start(["serve", "--every", "1"], {
      ...{ DATABASE_URL: url, KEYROOT_SIGNING_KEYS: keys, KEYROOT_BASE_URL: "https://k.test" },
      ...{ KEYROOT_PORT: "0", KEYROOT_MONITORING_PORT: "0" },
      ...{ KEYROOT_RPC_URL: fresh.rpcUrl, KEYROOT_CONTRACT: fresh.contract, KEYROOT_FILES: fresh.merkleDir },
      KEYROOT_CHAIN_ID: String(fresh.chainId),
    });
    try {
      while ((await publisherOver(databases).countPublishable()) > 0) {
        if (service.exitCode !== null) throw new Error(`The service ended: ${await text(service.stderr)}`);
        await sleep(50);
      }
    } finally {
      signalGroup(service, "SIGTERM");
      await untilGroupIsGone(service);
    }
    const { rpcUrl: rpc, merkleUrl, chainId, contract } = fresh;
    for (const { userID, pubKey } of records)
      await verifyPublicKey(userID, { rpc, merkleUrl, chainId, contract, expectedPublicKey: pubKey });
  });
});
