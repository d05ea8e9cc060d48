import { expect } from "chai";
import { eq } from "drizzle-orm";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { curve41417 } from "../../../packages/keyroot/src/identity/keyTypes/curve41417.ts";
import { type Region, REGIONS } from "../../../packages/keyroot/src/identity/region.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/serializedRecord.ts";
import type { Signer } from "../../../packages/operator/src/publisher/signers/signer.ts";
import { openStore } from "../../../packages/operator/src/publisher/files/openStore.ts";
import { readMerkleTreeRoots } from "../../../packages/keyroot/src/registry/readMerkleTreeRoots.ts";
import type { ReadMetrics } from "../../../packages/service/src/api/readMetrics.ts";
import { observePublisher } from "../../../packages/service/src/serve/publisherMetrics.ts";
import { listDifferences, PublisherState } from "../../../packages/service/src/publishing/publisherState.ts";
import { PublishRequests } from "../../../packages/service/src/publishing/publishRequests.ts";
import { makeMonitoring } from "../../../packages/service/src/api/monitoring.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import type { ChainConfig } from "../../../packages/service/src/config/publisherConfig.ts";
import { KeyPublisher } from "../../../packages/service/src/publisher/keyPublisher.ts";
import { type Databases, openDatabases } from "../../../packages/service/src/api/database/database.ts";
import { batchShares, plans } from "../../../packages/service/src/publishing/tables.ts";
import { batches as batchTable } from "../../../packages/service/src/keys/tables.ts";
import { conflictingKeys, publicKeys } from "../../../packages/service/src/keys/tables.ts";
import { PublicKeyStore } from "../../../packages/service/src/keys/publicKeys.ts";
import { withLease } from "../../../packages/service/src/publishing/lease.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { takePublishable } from "../../../packages/service/src/publishing/takePublishable.ts";
import { RootCheck } from "../../../packages/service/src/publisher/rootCheck.ts";
import { suspensions } from "../../../packages/service/src/partners/tables.ts";
import { users } from "../../../packages/service/src/users/tables.ts";
import { UserCreation } from "../../../packages/service/src/users/createUser.ts";
import { verifyOnce } from "../../support/verifier/verifyOnce.ts";
import { describeOnBoth, freshRegistry } from "../../support/chain/freshRegistry.ts";
import { type Endpoint, type Lie, startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure, never, temporaryFolder } from "../../support/support.ts";
import { program, signalGroup, untilGroupIsGone } from "../../support/processes/commandLine.ts";
import { registerKeys } from "../../support/service/registerKeys.ts";
import { freshDatabases, migratedDatabaseUrl } from "../../support/service/support.ts";

describeOnBoth("the service's publisher", (startChain) => {
  const fresh = freshRegistry(startChain);
  const folder = temporaryFolder();
  let url: string;
  let databases: Databases;
  beforeEach(async () => {
    url = await migratedDatabaseUrl();
    databases = await openDatabases({ url });
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
  /** Environment variables for a publisher. */
  const variables = () => ({
    ...{ DATABASE_URL: url, KEYROOT_FILES: fresh.filesDir },
    ...{ KEYROOT_RPC_URL: fresh.rpcUrl, KEYROOT_CONTRACT: fresh.contract, KEYROOT_CHAIN_ID: String(fresh.chainId) },
  });
  const publisherOver = (open: Databases, signer?: Signer) => new KeyPublisher(open, chain(), signer);
  /** The metrics that the service returns, in another process. */
  const metricsOf = async (open: Databases) => {
    const state = new PublisherState(open, fresh, false);
    const addMetrics = (metrics: ReadMetrics) => {
      observePublisher(metrics, state);
    };
    return (await makeMonitoring({ databases: open, rateLimit: 0, addMetrics }).app.inject("/metrics")).body;
  };
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

  const register = (records: readonly KeyRecord[], bizID = "biz_test") =>
    registerKeys(databases, records, (i) => ({ bizID, region: REGIONS[i % 2] ?? REGIONS[0] }));
  /** Continues with an empty database, as after a restore from an old backup. */
  const loseDatabase = async () => {
    await databases[Symbol.asyncDispose]();
    databases = await freshDatabases();
  };
  const stateOf = async ({ userID }: KeyRecord, i: number) =>
    new PublicKeyStore(databases).get(REGIONS[i % 2] ?? REGIONS[0], userID);

  it("stores each region's keys in the region's store", async () => {
    const records = sampleRecords(5);
    await register(records);
    expect(await publisherOver(databases).countPublishable()).to.equal(5);
    const batches = await publisherOver(databases).publish();
    expect(batches.map(({ users }) => users)).to.deep.equal([3, 2]);
    expect(await rootsOf(records)).to.deep.equal(records.map((_, i) => batches[i % 2]?.root));
    for (const [i, record] of records.entries()) {
      const { root, transaction } = batches[i % 2] ?? {};
      const published = { ...record, possession: "proven", holdEndsAt: 1, state: "published", root, transaction };
      expect(await stateOf(record, i)).to.deep.equal(published);
    }
    const names = (root = "") => [`${root}.json`];
    expect(await readdir(filesOf("us-west-2"))).to.deep.equal(names(batches[0]?.root));
    expect(await readdir(filesOf("eu-west-1"))).to.deep.equal(names(batches[1]?.root));
    expect(await publisherOver(databases).publish()).to.deep.equal([]);
    expect(await databases.home.select().from(plans)).to.be.empty;
  });

  it("compares the end of a hold period with the database's clock", async () => {
    const { now } = Date;
    await register(sampleRecords(1));
    try {
      for (const [holdEndsAt, aheadMs, keys] of [
        [now() + 3_600_000, 7_200_000, 0],
        [now() - 3_600_000, -7_200_000, 1],
      ] as const) {
        await databases.home.update(publicKeys).set({ holdEndsAt });
        Date.now = () => now() + aheadMs;
        expect(await publisherOver(databases).countPublishable()).to.equal(keys);
        expect(await takePublishable(databases, "us-west-2")).to.have.lengthOf(keys);
        Date.now = now;
      }
    } finally {
      Date.now = now;
    }
  });

  it("has metrics for overdue keys, balance and gas price", async () => {
    await register(sampleRecords(3));
    const publisher = publisherOver(databases);
    const metrics = async (of: KeyPublisher) => {
      await of.report();
      return metricsOf(databases);
    };
    const balance = BigInt((await fresh.call("eth_getBalance", [fresh.owner, "latest"])) as string);
    const before = await metrics(publisher);
    expect(before).to.include("keyroot_overdue_keys 3\n");
    expect(before).to.include(`keyroot_owner_balance_ether ${Number(balance) / 1e18}\n`);
    expect(before).to.match(/^keyroot_gas_price_ether \d\S+$/m);
    expect(await publisher.countPublishable(Date.now())).to.equal(0);
    await publisher.publish();
    expect(await metrics(publisher)).to.include("keyroot_overdue_keys 0\n");
    const without = new KeyPublisher(databases, { ...chain(), rpcUrl: "http://127.0.0.1:1" }, undefined);
    expect(await metrics(without)).to.include("keyroot_owner_balance_ether Nan\n");
  });

  it("takes and signs nothing if the endpoint serves a different chain", async () => {
    const [record = never()] = sampleRecords(1);
    await register([record]);
    let signed = 0;
    const signer = { address: fresh.owner, sign: () => Promise.reject(new Error(String(++signed))) };
    const elsewhere = new KeyPublisher(databases, { ...chain(), chainId: fresh.chainId + 1 }, signer);
    expect(await failure(elsewhere.publish())).to.include({ code: "CHAIN_ID_MISMATCH" });
    expect(await failure(elsewhere.reconcile())).to.include({ code: "CHAIN_ID_MISMATCH" });
    expect(signed).to.equal(0);
    expect(await stateOf(record, 0)).to.include({ state: "pending" });
  });

  it("records each batch's gas, cost and users per partner", async () => {
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

  it("finishes an interrupted plan with its own root", async () => {
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
    // These keys were registered later, so they are not part of the plan.
    await register(sampleRecords(4).slice(2));
    const batches = await publisherOver(databases).publish();
    // Each region finishes its plan, and then publishes its later key.
    expect(batches.map(({ users }) => users)).to.deep.equal([1, 1, 1, 1]);
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

  it("publishes the other regions' keys if a region fails, and all keys afterwards", async () => {
    const records = sampleRecords(4);
    await register(records);
    await writeFile(filesOf("us-west-2"), "not a folder");
    const failed: Region[] = [];
    const publisher = new KeyPublisher(databases, chain(), undefined, {
      onRegionFailed: (region) => failed.push(region),
    });
    expect(await failure(publisher.publish())).to.have.property("code");
    expect(failed).to.deep.equal(["us-west-2"]);
    expect((await rootsOf(records)).map((root) => root !== undefined)).to.deep.equal([false, true, false, true]);
    await rm(filesOf("us-west-2"));
    await publisher.publish();
    expect(await rootsOf(records)).to.not.include(undefined);
  });

  it("records the root of a key that another publisher published", async () => {
    const [record = never(), ...others] = sampleRecords(3);
    await register([record]);
    await publisherOver(databases).publish();
    const earlier = await stateOf(record, 0);
    await loseDatabase();
    await register([record, ...others]);
    await publisherOver(databases).publish();
    expect(await stateOf(record, 0)).to.deep.equal(earlier);
    expect(await rootsOf([record])).to.deep.equal([earlier?.root]);
  });

  describe("after a restore, with new keys that differ from the chain", () => {
    const [first = never(), second = never(), third = never()] = sampleRecords(3);
    const replaced = { ...first, pubKey: third.pubKey, keyID: third.keyID };
    beforeEach(async () => {
      await register([first, second]);
      await publisherOver(databases).publish();
      await loseDatabase();
    });
    const found = async () => {
      const key = await stateOf(first, 0);
      return { keyID: key?.keyID, pubKey: key?.pubKey, state: key?.state, root: key?.root };
    };
    const expected = async () => {
      const [root] = await rootsOf([first]);
      return { keyID: first.keyID, pubKey: first.pubKey, state: "published", root };
    };

    it("records the keys on the chain when it publishes, and reports the users", async () => {
      await register([replaced]);
      const reported: [code: string, message: string][] = [];
      const publisher = new KeyPublisher(databases, chain(), undefined, {
        onDifference: ({ code }, error) => reported.push([code, String(error)]),
      });
      await publisher.publish();
      const [[code, message] = never()] = reported;
      expect([reported.length, code]).to.deep.equal([1, "KEY_DIFFERS"]);
      expect(message).to.include(first.userID);
      expect(await found()).to.deep.equal(await expected());
      expect(await databases.regions["us-west-2"].select().from(conflictingKeys)).to.containSubset([
        { userID: first.userID, keyID: third.keyID },
      ]);
    });

    it("records the keys on the chain when it reconciles", async () => {
      await register([replaced]);
      const reconciled = await publisherOver(databases).reconcile();
      const none = { recorded: 0, lost: 0, statements: 0, differences: [] };
      expect(reconciled).to.deep.equal({ ...none, roots: 2, replaced: 1, added: 0, unknownUsers: [second.userID] });
      expect(await found()).to.deep.equal(await expected());
      const users = new UserCreation(databases, "test");
      await users.create("biz_test", second.userID, "eu-west-1", 1, SERVICE);
      const again = { ...none, roots: 2, replaced: 0, added: 1, unknownUsers: [] };
      expect(await publisherOver(databases).reconcile()).to.deep.equal(again);
      expect(await stateOf(second, 1)).to.include({ state: "published", keyID: second.keyID });
      expect(await publisherOver(databases).reconcile()).to.deep.equal({ ...again, added: 0 });
    });

    const faults: Record<string, [code: string, cause: (path: string) => Promise<unknown>]> = {
      missing: ["FILE_NOT_FOUND", rm],
      damaged: ["FILE_SHAPE", (path) => writeFile(path, "{}")],
      unavailable: ["FILE_UNREADABLE", (path) => rm(path).then(() => mkdir(path))],
    };
    for (const [what, [code, cause]] of Object.entries(faults))
      it(`lists a root when it reconciles if the root's file is ${what}`, async () => {
        const users = new UserCreation(databases, "test");
        await users.create("biz_test", first.userID, "us-west-2", 1, SERVICE);
        await users.create("biz_test", second.userID, "eu-west-1", 1, SERVICE);
        const path = (root: string) => `${filesOf("us-west-2")}/${root}.json`;
        const [root = never()] = await rootsOf([first]);
        await cause(path(root));
        expect(await publisherOver(databases).reconcile()).to.deep.include({
          ...{ roots: 2, added: 1, unknownUsers: [], differences: [{ root, code }] },
        });
        expect(await stateOf(second, 1)).to.include({ state: "published" });
        expect(await stateOf(first, 0)).to.equal(undefined);
      });

    it("ends the reconcile command with exit code 3", async () => {
      const [root = never()] = await rootsOf([first]);
      await writeFile(`${filesOf("us-west-2")}/${root}.json`, "{}");
      const files = { KEYROOT_FILES: filesOf("{region}" as Region) };
      const env = { ...variables(), ...files };
      const { code, json } = await program.json(["reconcile"], { env });
      expect(code).to.equal(3);
      expect(json).to.deep.include({ roots: 2, differences: [{ root, code: "FILE_SHAPE" }] });
    });
  });

  const [mine = never(), theirs = never()] = [sampleRecords(1)[0], sampleRecords(3)[2]];
  const setDeactivated = async (deactivated: number | null) => {
    await databases.regions[REGIONS[0]].update(users).set({ deactivated }).where(eq(users.userID, mine.userID));
  };
  for (const { what, block, unblock } of [
    {
      what: "the suspension of a partner",
      block: async () => {
        await databases.home.insert(suspensions).values({ bizID: "biz_test", since: 1 }).onConflictDoNothing();
      },
      unblock: async () => {
        await databases.home.delete(suspensions);
      },
    },
    { what: "the deactivation of a user", block: () => setDeactivated(1), unblock: () => setDeactivated(null) },
  ])
    describe(`after ${what}`, () => {
      const other = { ...theirs, bizID: "biz_other" };
      /** Registers one key of each partner in the same region. */
      const registerBoth = async () => {
        await register([mine]);
        await register([theirs], other.bizID);
      };

      it("releases unsent keys", async () => {
        await registerBoth();
        const limits = { maxFeePerGas: 10n ** 12n, maxCost: 1n };
        const poor = new KeyPublisher(databases, { ...chain(), limits }, undefined);
        for (let round = 0; round < 2; round++)
          expect(await failure(poor.publish())).to.include({ code: "COST_LIMIT_REACHED" });
        for (const scrape of ["first", "second"]) {
          expect(await metricsOf(databases), scrape).to.include(
            'keyroot_publishing_failures_total{code="COST_LIMIT_REACHED"} 2\n',
          );
        }
        expect(await stateOf(mine, 0)).to.include({ state: "submitted" });
        await block();
        expect((await publisherOver(databases).publish()).map(({ users }) => users)).to.deep.equal([1]);
        expect(await stateOf(mine, 0))
          .to.include({ state: "pending" })
          .and.not.have.property("root");
        expect(await rootsOf([mine, theirs])).to.deep.equal([undefined, (await stateOf(theirs, 0))?.root]);
        await unblock();
        await publisherOver(databases).publish();
        expect(await stateOf(mine, 0)).to.include({ state: "published" });
      });

      it("rebuilds a batch that was not sent before", async () => {
        await registerBoth();
        const endpoint = await startEndpoint(fresh.rpcUrl);
        endpoint.lie = async (method, params, truth) => {
          // This is the last request before the first transaction is recorded.
          if (method === "eth_estimateGas") await block();
          return truth(method, params);
        };
        try {
          const publisher = new KeyPublisher(databases, { ...chain(), rpcUrl: endpoint.url }, undefined);
          expect((await publisher.publish()).map(({ users }) => users)).to.deep.equal([1]);
        } finally {
          await endpoint.close();
        }
        expect(await stateOf(mine, 0)).to.include({ state: "pending" });
        expect(await stateOf(theirs, 0)).to.include({ state: "published" });
        expect(await rootsOf([mine])).to.deep.equal([undefined]);
      });

      it("finishes a batch that was sent before", async () => {
        await registerBoth();
        expect(await failure(publisherOver(databases, unreachableSigner()).publish())).to.be.an("error");
        await block();
        expect((await publisherOver(databases).publish()).map(({ users }) => users)).to.deep.equal([2]);
        expect(await stateOf(mine, 0)).to.include({ state: "published" });
      });
    });

  describe("with an endpoint that returns false data", () => {
    let endpoint: Endpoint;
    beforeEach(async () => {
      endpoint = await startEndpoint(fresh.rpcUrl);
    });
    afterEach(() => endpoint.close());
    const overBoth = () => new KeyPublisher(databases, { ...chain(), secondRpcUrl: endpoint.url }, undefined);
    /** Responds as if no user had a root. */
    const hideRoots: Lie = async (method, params, truth) => {
      const answer = (await truth(method, params)) as string;
      return method === "eth_call" && answer.length > 66 ? `0x${answer.slice(2, 6)}${"0".repeat(64)}` : answer;
    };

    it("waits while the second endpoint contradicts the first", async () => {
      const [record = never()] = sampleRecords(1);
      await register([record]);
      endpoint.lie = hideRoots;
      expect(await overBoth().publish()).to.deep.equal([]);
      expect(await stateOf(record, 0)).to.include({ state: "submitted" });
      const [difference] = await listDifferences(databases);
      expect(difference).to.include({ region: "us-west-2", code: "QUORUM_NOT_REACHED" });
      endpoint.lie = undefined;
      await overBoth().publish();
      expect(await stateOf(record, 0)).to.include({ state: "published" });
      expect(await listDifferences(databases)).to.deep.equal([]);
    });

    it("keeps published keys while the second endpoint contradicts the first", async () => {
      const [record = never()] = sampleRecords(1);
      await register([record]);
      await overBoth().publish();
      endpoint.lie = hideRoots;
      await databases.home.update(batchTable).set({ checked: 0 });
      expect(await overBoth().recheck()).to.include({ roots: 1, lost: 0 });
      expect(await stateOf(record, 0)).to.include({ state: "published" });
      expect((await listDifferences(databases)).map(({ code }) => code)).to.deep.equal(["QUORUM_NOT_REACHED"]);
    });

    it("rejects a block with a timestamp in the future", async () => {
      const registry = await fresh.connect();
      const stores = {
        "us-west-2": await openStore(filesOf("us-west-2")),
        "eu-west-1": await openStore(filesOf("eu-west-1")),
      };
      const { timestamp } = (await fresh.call("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
      const checkAt = (now: number) =>
        new RootCheck({
          ...{ registries: [registry], stores, chainId: 1, confirmations: 1, keyType: curve41417, now: () => now },
        }).finalBlock();
      expect(await failure(checkAt(Number(timestamp) * 1000 - 121_000))).to.include({ code: "FUTURE_BLOCK" });
      expect(await checkAt(Number(timestamp) * 1000 - 119_000)).to.be.a("number");
    });
  });

  describe("a key that is recorded as published", () => {
    const [record = never(), other = never()] = sampleRecords(2);

    for (const [name, repair] of [
      ["the daily check", (publisher: KeyPublisher) => publisher.recheck()],
      ["reconcile", (publisher: KeyPublisher) => publisher.reconcile()],
    ] as const)
      it(`is submitted again if ${name} does not find it on the chain`, async () => {
        await register([record]);
        const snapshot = await fresh.call("evm_snapshot", []);
        await publisherOver(databases).publish();
        await fresh.call("evm_revert", [snapshot]);
        await fresh.call("hardhat_mine", ["0xc8"]);
        await databases.home.update(batchTable).set({ checked: 0 });
        expect(await repair(publisherOver(databases))).to.include({ lost: 1 });
        expect(await stateOf(record, 0)).to.include({ state: "submitted" });
        expect((await listDifferences(databases)).map(({ code }) => code)).to.deep.equal(["NOT_PUBLISHED"]);
        await publisherOver(databases).publish();
        expect(await rootsOf([record])).to.not.include(undefined);
        expect(await stateOf(record, 0)).to.include({ state: "published" });
      });

    it("is compared with the chain once a day", async () => {
      await register([record, other]);
      await publisherOver(databases).publish();
      expect(await publisherOver(databases).recheck()).to.deep.equal({ roots: 0, lost: 0, differences: [] });
      const tomorrow = () => Date.now() + 25 * 3_600_000;
      const later = new KeyPublisher(databases, chain(), undefined, { now: tomorrow });
      expect(await later.recheck()).to.deep.equal({ roots: 2, lost: 0, differences: [] });
      for (const { blockNumber, blockHash } of await databases.home.select().from(batchTable)) {
        const block = await fresh.call("eth_getBlockByNumber", [`0x${blockNumber?.toString(16)}`, false]);
        expect(block).to.include({ hash: blockHash });
      }
    });

    it("is compared by the next call if a call takes too long", async () => {
      await register([record, other]);
      await publisherOver(databases).publish();
      let time = Date.now() + 25 * 3_600_000;
      // Five minutes pass between two readings of the clock.
      const slow = new KeyPublisher(databases, chain(), undefined, { now: () => (time += 5 * 60_000) });
      const roots = [];
      while (roots.at(-1) !== 0 && roots.length < 5) roots.push((await slow.recheck()).roots);
      expect(roots).to.deep.equal([1, 1, 0]);
    });

    it("is compared although another root's transaction is missing", async () => {
      await register([record, other]);
      await publisherOver(databases).publish();
      await databases.home.update(batchTable).set({ checked: 0 });
      const [hidden = never(), shown = never()] = await databases.home.select().from(batchTable);
      await databases.home.update(batchTable).set({ checked: 1 }).where(eq(batchTable.root, shown.root));
      const endpoint = await startEndpoint(fresh.rpcUrl);
      try {
        endpoint.lie = (method, params, truth) =>
          method === "eth_getTransactionReceipt" && params[0] === hidden.transactionHash ? null : truth(method, params);
        const publisher = new KeyPublisher(databases, { ...chain(), rpcUrl: endpoint.url }, undefined);
        const { roots, differences } = await publisher.recheck();
        expect([roots, differences.map(({ root, code }) => [root, code])]).to.deep.equal([
          2,
          [[hidden.root, "NOT_FINAL"]],
        ]);
        endpoint.lie = undefined;
        expect(await publisher.recheck()).to.deep.equal({ roots: 1, lost: 0, differences: [] });
      } finally {
        await endpoint.close();
      }
    });

    it("stays published if its file is missing, and the missing file is reported", async () => {
      await register([record]);
      const [{ root } = never()] = await publisherOver(databases).publish();
      const path = `${filesOf("us-west-2")}/${root}.json`;
      const bytes = await readFile(path);
      await rm(path);
      await databases.home.update(batchTable).set({ checked: 0 });
      const difference = { region: "us-west-2", root, code: "FILE_NOT_FOUND" };
      expect((await publisherOver(databases).recheck()).differences).to.deep.equal([difference]);
      expect(await listDifferences(databases)).to.deep.equal([difference]);
      expect(await stateOf(record, 0)).to.include({ state: "published" });
      await writeFile(path, bytes);
      await databases.home.update(batchTable).set({ checked: 0 });
      expect(await publisherOver(databases).recheck()).to.deep.equal({ roots: 1, lost: 0, differences: [] });
      expect(await listDifferences(databases)).to.deep.equal([]);
    });
  });

  it("does not record a key as published if its root's file is missing", async () => {
    const [record = never()] = sampleRecords(1);
    await register([record]);
    const [{ root } = never()] = await publisherOver(databases).publish();
    await loseDatabase();
    await register([record]);
    await rm(`${filesOf("us-west-2")}/${root}.json`);
    await publisherOver(databases).publish();
    expect(await stateOf(record, 0)).to.include({ state: "submitted" });
    expect(await listDifferences(databases)).to.deep.equal([{ region: "us-west-2", root, code: "FILE_NOT_FOUND" }]);
  });

  it("publishes on request, and records the result", async () => {
    const records = sampleRecords(2);
    await register(records);
    const requests = new PublishRequests(databases.home);
    await publisherOver(databases).publishRequested();
    expect((await Promise.all(records.map(stateOf))).map((key) => key?.state)).to.deep.equal(["pending", "pending"]);
    const author = { actor: { kind: "operator" }, requestID: "r-1", address: "::1" } as const;
    const { id } = await requests.add(author, 5);
    expect((await requests.add(author, 6)).id).to.equal(id);
    // Only one of two publishers takes the request.
    await Promise.allSettled([1, 2].map(() => publisherOver(databases).publishRequested()));
    const ended = await requests.waitFor(id, () => Promise.resolve(false), AbortSignal.timeout(ENDLESS_MS));
    expect(ended).to.deep.include({ id, author, requested: 5, error: null });
    expect(ended.batches?.map(({ users }) => users)).to.deep.equal([1, 1]);
    expect((await Promise.all(records.map(stateOf))).map((key) => key?.state)).to.deep.equal([
      "published",
      "published",
    ]);
    expect((await requests.add(author, 7)).id).to.be.above(id);
  });

  it("records the code of a failed request, and leaves a request open if another publisher holds the lease", async () => {
    await register(sampleRecords(1));
    const requests = new PublishRequests(databases.home);
    const { id } = await requests.add(SERVICE, 1);
    await withLease(databases.home, async () => {
      expect(await failure(publisherOver(databases).publishRequested())).to.include({ code: "PUBLISHER_RUNNING" });
    });
    expect(await requests.last()).to.include({ id, started: null, ended: null });
    const elsewhere = new KeyPublisher(databases, { ...chain(), chainId: fresh.chainId + 1 }, undefined);
    expect(await failure(elsewhere.publishRequested())).to.include({ code: "CHAIN_ID_MISMATCH" });
    expect(await requests.last()).to.deep.include({ id, error: "CHAIN_ID_MISMATCH", batches: [] });
  });

  it("publishes on schedule if keyroot publisher runs with --every", async () => {
    const records = sampleRecords(2);
    await register(records);
    const service = program.start(["publisher", "--every", "1"], variables());
    try {
      while ((await publisherOver(databases).countPublishable()) > 0) {
        if (service.exitCode !== null) throw new Error(`The publisher ended: ${await text(service.stderr)}`);
        await sleep(50);
      }
    } finally {
      signalGroup(service, "SIGTERM");
      await untilGroupIsGone(service);
    }
    const { rpcUrl: rpc, merkleUrl, chainId, contract } = fresh;
    for (const { userID, pubKey } of records)
      await verifyOnce(userID, { rpc, merkleUrl, chainId, contract, expectedPublicKey: pubKey });
  });
});
