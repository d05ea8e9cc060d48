import { expect } from "chai";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fetchFromHost, FolderJournal, FolderStore, Registry } from "@keyroot/operator/publisher";
import type { PublishEvent, PublishOptions } from "@keyroot/operator/publisher";
import { KeyrootError, TransportError } from "keyroot/internal/errors";
import type { KeyRecord } from "keyroot/internal/identity";
import { fetchUserCount } from "keyroot/internal/registry";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { publishWith } from "../../../../packages/operator/src/publisher/publish.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../../../support/anvil/anvil.ts";
import {
  deployOn,
  describeOnBoth,
  freshRegistry,
  FAST_RETRY,
  rawSender,
} from "../../../support/chain/freshRegistry.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { closedAfterEach, failure, temporaryFolder } from "../../../support/support.ts";
import { testAll } from "../../../support/testSize.ts";
import { reorganize } from "../../../support/anvil/anvilControl.ts";
import { SimulatedCrash } from "../../../support/publisher/crash.ts";
import { verifyDeployment } from "../../../support/publisher/deployment.ts";
import { startFaultyEndpoint } from "../../../support/publisher/faultyEndpoint.ts";
import { LOCAL } from "../../../support/chain/local.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

/** The maximum number of runs until a publisher succeeds. */
const MAX_RUNS = 30;
const SENDING = { timeoutMs: 30_000, inFlight: 2 };
const TIMES = { pollMs: 5, stuckAfterMs: 50 };

describeOnBoth("a publisher with faults", (startChain) => {
  const fresh = freshRegistry(startChain);
  const { records, publishOnce, publishUntilDone, expectPublished } = publisherOf(fresh);
  const closing = closedAfterEach();

  it("publishes all users if it runs again after a crash at any step", async () => {
    let crashes = 0;
    // Test only some steps to save time. soakPublisher.test.ts kills processes at random times.
    const step = testAll ? 3 : 6;
    for (let atStep = 1; ; atStep += step) {
      const crash = new SimulatedCrash(atStep);
      if ((await publishOnce({ crash })) !== "crashed") break;
      crashes++;
      await publishOnce();
      await expectPublished(records);
      fresh.contract = await fresh.deploy(fresh.owner);
      for (const name of await readdir(fresh.filesDir)) await rm(join(fresh.filesDir, name));
    }
    expect(crashes).to.be.greaterThan(75 / step);
  });

  it("publishes a plan after repeated crashes", async () => {
    let crashes = 0;
    const crashAt = (atStep: number) => publishOnce({ crash: new SimulatedCrash(atStep) });
    for (let atStep = 5; (await crashAt(atStep)) === "crashed"; atStep += 7) crashes++;
    expect(crashes).to.be.greaterThan(3);
    await expectPublished(records);
  });

  for (const seed of [1, 2, 3, 4]) {
    it(`publishes despite random faults with the seed ${seed}`, async () => {
      const endpoint = closing(await startFaultyEndpoint(fresh.rpcUrl, { slowMs: 20 }));
      endpoint.injectAtRandom({ seed, perMille: 200 });
      const via = rpcCaller(endpoint.url, { maxBytes: 2 ** 20, timeoutMs: 150 });
      await publishUntilDone({ via, send: rawSender(via, fresh.chainId) });
      expect(endpoint.faults()).to.be.greaterThan(2);
      await expectPublished(records);
    });
  }

  it("publishes through an endpoint with a rate limit", async () => {
    const endpoint = closing(await startFaultyEndpoint(fresh.rpcUrl));
    // The second retry is delayed by more than 15 ms.
    endpoint.limitRate(10, 15);
    const via = rpcCaller(endpoint.url, { maxBytes: 2 ** 20, timeoutMs: 1_000 });
    await publishUntilDone({ via });
    await expectPublished(records);
  });

  it("continues when a failed store works again", async () => {
    const store = new FolderStore(join(fresh.filesDir, "none", "\0"));
    const publishing = publishWith(records, { ...LOCAL, registry: await fresh.connect(), store }, TIMES);
    expect(await failure(publishing)).to.be.an.instanceof(KeyrootError);
    expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(0);
    await publishOnce();
    await expectPublished(records);
  });

  it("rebuilds lost files of its plan despite crashes", async () => {
    let sent = 0;
    const via: RpcCall = async (method, params) => {
      if (method === "eth_sendTransaction" && ++sent === 3) {
        throw new TransportError("RPC_ERROR", "insufficient funds");
      }
      return fresh.call(method, params);
    };
    await failure(publishOnce({ via, sending: { inFlight: 1 } }));
    expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(6);
    const files = await readdir(fresh.filesDir);
    expect(files).to.have.lengthOf(4);
    for (const name of files.slice(1)) await rm(join(fresh.filesDir, name));

    let crashes = 0;
    const crashAt = (atStep: number) => publishOnce({ crash: new SimulatedCrash(atStep) });
    for (let atStep = 8; (await crashAt(atStep)) === "crashed"; atStep += 3) crashes++;
    expect(crashes).to.be.greaterThan(5);
    expect(await readdir(fresh.filesDir)).to.have.members(files);
    await expectPublished(records);
  });
});

describeOnAnvil("a publisher with reorganizations", function (this: Mocha.Suite) {
  const fresh = freshRegistry(startAnvil);
  const { publishOnce, publishUntilDone, expectPublished, records } = publisherOf(fresh);

  for (const depth of [1, 2, 3, 4, 5]) {
    it(`adds roots again after a reorganization of ${depth} blocks`, async () => {
      let sent = 0;
      const via: RpcCall = async (method, params) => {
        const answer = await fresh.call(method, params);
        if (method === "eth_sendTransaction" && ++sent === 4) await reorganize(fresh.call, Math.min(depth, 3));
        return answer;
      };
      const events: string[] = [];
      const onEvent = ({ event }: PublishEvent) => void events.push(event);
      await publishOnce({ via, onEvent, sending: { inFlight: 1 } });
      // The publisher has not read the last block yet.
      if (depth > 1) expect(events).to.include("reorganized");
      await reorganize(fresh.call, depth);
      // The same call publishes again after a later reorganization.
      await publishUntilDone();
      await expectPublished(records);
    });
  }

  it("reports a root as published only after it is final", async () => {
    let reorganized = false;
    const events: string[] = [];
    const onEvent = ({ event }: PublishEvent) => {
      events.push(event);
      // Remove the roots from the chain while the publisher waits for finality.
      if (event === "waiting" && !reorganized) {
        reorganized = true;
        void reorganize(fresh.call, 2).then(() => fresh.call("anvil_mine", ["0x4"]));
      } else if (event === "waiting") void fresh.call("anvil_mine", ["0x4"]);
    };
    await publishOnce({ onEvent, finality: { confirmations: 3 } });
    expect(events).to.include("lost");
    await expectPublished(records);
  });

  it("fails with NOT_FINAL if no block is final", async () => {
    const error = await failure(publishOnce({ finality: "finalized", sending: { timeoutMs: 60 } }));
    expect(error).to.be.an.instanceof(TransportError).with.property("code", "NOT_FINAL");
    await fresh.call("anvil_mine", ["0x80"]);
    await publishOnce({ finality: "finalized" });
    await expectPublished(records);
  });
});

describeOnAnvil("a publisher whose chain is restarted from its saved state", function (this: Mocha.Suite) {
  const folder = temporaryFolder();
  const closing = closedAfterEach();

  it("continues where it stopped", async () => {
    const state = join(folder.path, "state.json");
    const chains: Anvil[] = [];
    const start = async () => {
      const chain = closing(await startAnvil("--state", state));
      chains.push(chain);
      return chain;
    };
    const endpoint = closing(await startFaultyEndpoint((await start()).url));
    const call = rpcCaller(endpoint.url, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    const [owner = ""] = (await call("eth_accounts", [])) as string[];
    const contract = await deployOn(call, owner);
    const filesDir = join(folder.path, "files");
    const deployment = { call, contract, owner, filesDir };
    const records = sampleRecords(12);
    let sent = 0;
    endpoint.onCall = async (method) => {
      if (method !== "eth_sendTransaction" || ++sent !== 3) return;
      await chains.at(-1)?.stop();
      endpoint.chainUrl = (await start()).url;
    };
    using journal = await FolderJournal.open(join(folder.path, "plan"));
    for (let runs = 0; ; runs++) {
      try {
        const registry = await Registry.connect(call, contract, FAST_RETRY);
        const options = { ...LOCAL, registry, store: new FolderStore(filesDir), journal, usersPerFile: 3 };
        await publishWith(records, { ...options, sending: SENDING }, TIMES);
        break;
      } catch (error) {
        if (!(error instanceof KeyrootError) || runs > 5) throw error;
      }
    }
    expect(chains).to.have.lengthOf(2);
    await verifyDeployment(deployment, records);
  });
});

interface Once extends Partial<Pick<PublishOptions, "onEvent" | "finality" | "sending" | "send">> {
  via?: RpcCall;
  crash?: SimulatedCrash;
}

/** Creates a publisher of ten records, which keeps its plan in a folder. */
function publisherOf(fresh: ReturnType<typeof freshRegistry>) {
  const folder = temporaryFolder();
  const records = sampleRecords(10);

  /** Runs the publisher once, and releases its lock, as the end of a process would. */
  const publishOnce = async ({ via = fresh.call, crash = new SimulatedCrash(), sending, ...options }: Once = {}) => {
    using journal = await FolderJournal.open(join(folder.path, "plan"));
    const call = crash.call(via);
    return await crash.run(
      (async () =>
        publishWith(
          records,
          {
            ...LOCAL,
            registry: await fresh.connect(call),
            store: crash.store(new FolderStore(fresh.filesDir)),
            journal: crash.journal(journal),
            usersPerFile: 3,
            fetchFile: fetchFromHost(fresh.merkleUrl),
            sending: { ...SENDING, ...sending },
            ...options,
          },
          TIMES,
        ))(),
    );
  };

  /** Runs the publisher until it succeeds. @returns the number of runs */
  const publishUntilDone = async (once: Once = {}) => {
    for (let runs = 1; ; runs++) {
      try {
        await publishOnce(once);
        return runs;
      } catch (error) {
        if (!(error instanceof KeyrootError) || runs === MAX_RUNS) throw error;
      }
    }
  };

  /** Expects that every user has one root with a correct file. */
  const expectPublished = async (records: readonly KeyRecord[]) => {
    const { rootOf } = await verifyDeployment(fresh, records);
    expect(rootOf.size).to.equal(new Set(records.map(({ userID }) => userID)).size);
    expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(rootOf.size);
  };
  return { folder, records, publishOnce, publishUntilDone, expectPublished };
}
