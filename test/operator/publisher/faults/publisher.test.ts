import { expect } from "chai";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError, KeyrootError, TransportError } from "../../../../packages/keyroot/src/errors.ts";
import type { KeyRecord } from "../../../../packages/keyroot/src/identity/keyRecord.ts";
import { fromHost } from "../../../../packages/operator/src/publisher/files/files.ts";
import { FolderStore } from "../../../../packages/operator/src/publisher/files/folderStore.ts";
import { FolderJournal } from "../../../../packages/operator/src/publisher/journal/folderJournal.ts";
import {
  publish,
  type PublishEvent,
  type PublishOptions,
} from "../../../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../../../packages/operator/src/publisher/chain/registry.ts";
import { readRegistry } from "../../../../packages/operator/src/publisher/chain/registryAbi.ts";
import { type RpcCall, rpcCaller } from "../../../../packages/keyroot/src/transport/jsonRpc.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../../../../fixtures/anvil/anvil.ts";
import { deployOn, describeOnBoth, freshRegistry, IMPATIENT, rawSender } from "../../../../fixtures/freshRegistry.ts";
import { sampleRecords } from "../../../../fixtures/samples.ts";
import { closedAfterEach, failure, temporaryFolder } from "../../../support/support.ts";
import { reorganise } from "../../../../fixtures/anvil/anvilControl.ts";
import { DyingWorld } from "../../../support/dying.ts";
import { startFaultyProxy } from "../../../../fixtures/publisher/faultyEndpoint.ts";
import { ForeignPublisher, judgeField } from "../../../../fixtures/publisher/rivals.ts";

/** How often a publisher is started again until it gets through. */
const MOST_RUNS = 30;

describeOnBoth("a publisher in trouble", (startChain) => {
  const fresh = freshRegistry(startChain);
  holds(fresh);
});

describeOnAnvil("a publisher whose blocks vanish", function (this: Mocha.Suite) {
  this.timeout(60_000);
  const fresh = freshRegistry(startAnvil);
  const { publishOnce, untilDone, expectWell, records } = publisherOf(fresh);

  for (const depth of [1, 2, 3, 4, 5]) {
    it(`brings back what was in the last ${depth} blocks`, async () => {
      let sent = 0;
      const via: RpcCall = async (method, params) => {
        const answer = await fresh.call(method, params);
        if (method === "eth_sendTransaction" && ++sent === 4) await reorganise(fresh.call, Math.min(depth, 3));
        return answer;
      };
      const events: string[] = [];
      const onEvent = ({ event }: PublishEvent) => void events.push(event);
      await publishOnce({ via, onEvent, sending: { inFlight: 1 } });
      // The last block was not looked at yet.
      if (depth > 1) expect(events).to.include("reorganised");
      await reorganise(fresh.call, depth);
      // What was published falls back, and the same command brings it back.
      await untilDone();
      await expectWell(records);
    });
  }

  it("counts a root as published only as deep as asked for, and proves it then", async () => {
    let reorganised = false;
    const events: string[] = [];
    const onEvent = ({ event }: PublishEvent) => {
      events.push(event);
      // While it waits for depth, the roots vanish.
      if (event === "waiting" && !reorganised) {
        reorganised = true;
        void reorganise(fresh.call, 2).then(() => fresh.call("anvil_mine", ["0x4"]));
      } else if (event === "waiting") void fresh.call("anvil_mine", ["0x4"]);
    };
    await publishOnce({ onEvent, depth: { confirmations: 3 } });
    expect(events).to.include("lost");
    await expectWell(records);
  });

  it("says that nothing is final yet where no block is", async () => {
    const error = await failure(publishOnce({ depth: "finalized", sending: { timeoutMs: 60 } }));
    expect(error).to.be.an.instanceof(TransportError).with.property("code", "NOT_FINAL");
    await fresh.call("anvil_mine", ["0x80"]);
    await publishOnce({ depth: "finalized" });
    await expectWell(records);
  });
});

describeOnAnvil("a publisher whose chain is started again from its saved state", function (this: Mocha.Suite) {
  this.timeout(60_000);
  const folder = temporaryFolder();
  const closing = closedAfterEach();

  it("goes on where it was", async () => {
    const state = join(folder.path, "state.json");
    const chains: Anvil[] = [];
    const start = async () => {
      const chain = closing(await startAnvil("--state", state));
      chains.push(chain);
      return chain;
    };
    const proxy = closing(await startFaultyProxy((await start()).url));
    const call = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: 5_000 });
    const [owner = ""] = (await call("eth_accounts", [])) as string[];
    const contract = await deployOn(call, owner);
    const merkleDir = join(folder.path, "files");
    const field = { call, contract, owner, merkleDir };
    const records = sampleRecords(12);
    let sent = 0;
    proxy.onCall = async (method) => {
      if (method !== "eth_sendTransaction" || ++sent !== 3) return;
      await chains.at(-1)?.stop();
      proxy.chainUrl = (await start()).url;
    };
    using journal = await FolderJournal.open(join(folder.path, "plan"));
    for (let runs = 0; ; runs++) {
      try {
        await publish(records, {
          registry: await Registry.connect(call, contract, IMPATIENT),
          store: new FolderStore(merkleDir),
          journal,
          usersPerFile: 3,
          sending: { pollMs: 5, stuckAfterMs: 50, timeoutMs: 3_000, inFlight: 2 },
        });
        break;
      } catch (error) {
        if (!(error instanceof KeyrootError) || runs > 5) throw error;
      }
    }
    expect(chains).to.have.lengthOf(2);
    await judgeField(field, records);
  });
});

interface Once extends Partial<Pick<PublishOptions, "onEvent" | "depth" | "sending" | "send">> {
  via?: RpcCall;
  world?: DyingWorld;
}

/** A publisher of the same few records, which keeps its plan in a folder. */
function publisherOf(fresh: ReturnType<typeof freshRegistry>) {
  const folder = temporaryFolder();
  const records = sampleRecords(10);
  beforeEach(async () => {
    for (const name of await readdir(fresh.merkleDir)) await rm(join(fresh.merkleDir, name));
  });

  /** Runs it once, as a process of its own would: its lock ends with it. */
  const publishOnce = async ({ via = fresh.call, world = new DyingWorld(), sending, ...options }: Once = {}) => {
    using journal = await FolderJournal.open(join(folder.path, "plan"));
    const call = world.call(via);
    return await world.run(
      (async () =>
        publish(records, {
          registry: await fresh.connect(call),
          store: world.store(new FolderStore(fresh.merkleDir)),
          journal: world.journal(journal),
          usersPerFile: 3,
          fetchFile: fromHost(fresh.merkleUrl),
          sending: { pollMs: 5, stuckAfterMs: 50, timeoutMs: 3_000, inFlight: 2, ...sending },
          ...options,
        }))(),
    );
  };

  /** Runs it again and again until it is done. @returns how many runs that took */
  const untilDone = async (once: Once = {}) => {
    for (let runs = 1; ; runs++) {
      try {
        await publishOnce(once);
        return runs;
      } catch (error) {
        if (!(error instanceof KeyrootError) || runs === MOST_RUNS) throw error;
      }
    }
  };

  /** Every user has one right root, and every root its file. */
  const expectWell = async (records: readonly KeyRecord[]) => {
    const { rootOf, shadowed } = await judgeField(fresh, records);
    expect(rootOf.size).to.equal(new Set(records.map(({ userID }) => userID)).size);
    expect(String(await readRegistry(fresh.call, fresh.contract, "userCount"))).to.equal(String(rootOf.size));
    return { rootOf, shadowed };
  };
  return { folder, records, publishOnce, untilDone, expectWell };
}

function holds(fresh: ReturnType<typeof freshRegistry>): void {
  const { records, publishOnce, untilDone, expectWell } = publisherOf(fresh);
  const closing = closedAfterEach();

  it("is killed at any step, and run again", async function () {
    this.timeout(120_000);
    let killed = 0;
    // Every third step; `npm run soak:publisher` takes each of them.
    for (let diesAt = 1; ; diesAt += 3) {
      const world = new DyingWorld(diesAt);
      if ((await publishOnce({ world })) !== "dead") break;
      killed++;
      await publishOnce();
      await expectWell(records);
      fresh.contract = await fresh.deploy(fresh.owner);
      for (const name of await readdir(fresh.merkleDir)) await rm(join(fresh.merkleDir, name));
    }
    expect(killed).to.be.greaterThan(25);
  });

  it("is killed at one step after the other of the same work", async () => {
    let killed = 0;
    for (let diesAt = 5; (await publishOnce({ world: new DyingWorld(diesAt) })) === "dead"; diesAt += 7) killed++;
    expect(killed).to.be.greaterThan(3);
    await expectWell(records);
  });

  for (const seed of [1, 2, 3, 4]) {
    it(`meets every kind of fault at random: seed ${seed}`, async () => {
      const proxy = closing(await startFaultyProxy(fresh.rpcUrl, { slowMs: 20 }));
      proxy.storm({ seed, perMille: 200 });
      const via = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: 150 });
      await untilDone({ via, send: rawSender(via, fresh.chainId) });
      expect(proxy.count()).to.be.greaterThan(2);
      await expectWell(records);
    });
  }

  it("is told to ask less often", async () => {
    const proxy = closing(await startFaultyProxy(fresh.rpcUrl));
    // The pauses before the second question are longer than that.
    proxy.limitRate(10, 15);
    const via = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: 1_000 });
    await untilDone({ via });
    await expectWell(records);
  });

  it("has its users taken by somebody else while it publishes", async () => {
    const foreign = new ForeignPublisher(fresh);
    const taken = records.slice(3, 8);
    const others = taken.map(({ userID }, i) => ({ ...(taken[(i + 1) % 5] ?? never()), userID }));
    let root: string | undefined;
    const via: RpcCall = async (method, params) => {
      if (method === "eth_sendTransaction" && root === undefined) {
        root = "";
        root = await foreign.publish(others);
      }
      return fresh.call(method, params);
    };
    const publication = await publishOnce({ via });
    if (publication === "dead") throw new Error("It is alive.");
    expect(publication.shadowed).to.have.deep.members(others.map(({ userID }) => ({ userID, root })));
    await expectWell([...records, ...others]);
  });

  it("keeps a second one away from its plan, and lets one with another plan do no harm", async () => {
    const both = await Promise.allSettled([publishOnce(), publishOnce()]);
    const refusals = both.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(refusals).to.have.lengthOf(1);
    expect(refusals[0]).to.be.an.instanceof(ArgumentError).with.property("code", "PUBLISHER_RUNNING");
    await expectWell(records);
  });

  it("stops where the store refuses, and goes on when it does not", async () => {
    const store = new FolderStore(join(fresh.merkleDir, "none", "\0"));
    expect(await failure(publish(records, { registry: await fresh.connect(), store }))).to.be.an.instanceof(
      KeyrootError,
    );
    expect(String(await readRegistry(fresh.call, fresh.contract, "userCount"))).to.equal("0");
    await publishOnce();
    await expectWell(records);
  });

  it("loses files of its plan, some of them on the chain already, and is killed while it makes them anew", async () => {
    let sent = 0;
    const via: RpcCall = async (method, params) => {
      if (method === "eth_sendTransaction" && ++sent === 3) {
        throw new TransportError("RPC_ERROR", "insufficient funds");
      }
      return fresh.call(method, params);
    };
    await failure(publishOnce({ via, sending: { inFlight: 1 } }));
    expect(String(await readRegistry(fresh.call, fresh.contract, "userCount"))).to.equal("6");
    const files = await readdir(fresh.merkleDir);
    expect(files).to.have.lengthOf(4);
    for (const name of files.slice(1)) await rm(join(fresh.merkleDir, name));

    let killed = 0;
    for (let diesAt = 8; (await publishOnce({ world: new DyingWorld(diesAt) })) === "dead"; diesAt += 3) killed++;
    expect(killed).to.be.greaterThan(5);
    expect(await readdir(fresh.merkleDir)).to.have.members(files);
    await expectWell(records);
  });
}

function never(): never {
  throw new Error("there is none");
}
