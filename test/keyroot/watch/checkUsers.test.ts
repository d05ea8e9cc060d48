import { expect } from "chai";
import { setImmediate } from "node:timers/promises";
import hre from "hardhat";
import { startLocalChain } from "@keyroot/service/stack";
import { type Alarm, type Contact, type KeyRecord, userIDToHex, type Watch } from "keyroot";
import { makeBundle } from "keyroot/bundle";
import { makeMerkleFile } from "keyroot/merkle";
import { sampleRecords } from "../../support/samples.ts";
import { verifierAt } from "../../support/verifier/verifyOnce.ts";
import { startWatchedChain, type WatchedChain } from "../../support/watch/watchedChain.ts";

const HOUR = 3_600_000;
/** The time limit of a step in ms. */
const LIMIT_MS = 300;

describe("a round of a watch", () => {
  const [own, slow, swapped, unpublished] = sampleRecords(4) as [KeyRecord, KeyRecord, KeyRecord, KeyRecord];
  let chain: WatchedChain;
  let app: AbortController;
  let alarms: Alarm[];
  let time: number;
  /** The number of requests for files in this round. */
  let filesRead: number;
  let store: Map<string, string>;

  before(async () => {
    const local = await startLocalChain(hre, { port: 0 });
    chain = await startWatchedChain({ url: local.rpcUrl, close: () => local.close() });
    for (const record of [slow, swapped]) await chain.publish([record]);
  });
  after(() => chain.close());

  beforeEach(() => {
    app = new AbortController();
    alarms = [];
    store = new Map();
    time = Date.UTC(2030, 0, 1);
  });
  afterEach(() => {
    app.abort();
  });

  /** Starts a watch of two contacts, each with a file of its own. The server swapped the second one's key. */
  const start = (fetch: typeof globalThis.fetch, others: readonly Contact[] = []): Promise<Watch> => {
    const { rpc, chainId, contract, merkleUrl } = chain;
    const contacts = [
      ...others,
      { userID: slow.userID, expectedPublicKey: slow.pubKey },
      { userID: swapped.userID, expectedPublicKey: own.pubKey },
    ];
    const limits = { timeoutMs: LIMIT_MS };
    return verifierAt({ rpc, chainId, contract, merkleUrl, fetch, limits, now: () => time }).watch({
      ...{ userID: own.userID, publicKey: own.pubKey, store, makeBundle },
      contacts: () => {
        filesRead = 0;
        return contacts;
      },
      ...{ onAlarm: (alarm) => alarms.push(alarm), fileLimitMs: HOUR, signal: app.signal },
    });
  };
  /** Returns a `fetch` that takes the whole time for some files, without a pause, as the parsing of a long file does. */
  const blocking = (isSlow: (url: string) => boolean): typeof globalThis.fetch => {
    return async (url, init) => {
      if (!isSlow(url as string)) return fetch(url, init);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LIMIT_MS);
      return new Response("[]");
    };
  };
  /** Returns the response of a host that does not respond. */
  const never = (init: RequestInit | undefined) =>
    new Promise<Response>((_, reject) => {
      init?.signal?.addEventListener("abort", () => {
        reject(new TypeError("aborted"));
      });
    });
  const isRaised = (code: string, { userID }: KeyRecord) =>
    alarms.some((alarm) => alarm.code === code && alarm.userID === userID);

  it("reads another file first than the round before it, so a slow file hides no false key", async () => {
    const { root } = makeMerkleFile([slow]).tree;
    const watch = await start(blocking((url) => url.endsWith(`${root}.json`)));
    while (!isRaised("CONTACT_KEY_MISMATCH", swapped)) await watch.check();
  });

  it("counts an outage of every due file, even if it did not get to the file", async () => {
    const isFirstOfRound = (url: string) => url.endsWith(".json") && filesRead++ === 0;
    const watch = await start(blocking(isFirstOfRound));
    while (![slow, swapped].every((record) => isRaised("FILE_UNAVAILABLE", record))) {
      time += HOUR / 4;
      const { errors } = await watch.check();
      // The app itself aborts nothing.
      expect(errors.map((error) => (error as { code?: string }).code)).to.not.include("ABORTED");
    }
    for (const { message } of alarms) expect(message).to.not.include("ABORTED");
  });

  it("says whether the file host did not respond, or no round had time for the file", async () => {
    const silent: typeof fetch = (url, init) => {
      if (!(url as string).endsWith(".json")) return fetch(url, init);
      filesRead++;
      return never(init);
    };
    /** Returns the codes of the contacts' outages. */
    const outages = () => {
      const { users } = JSON.parse([...store.values()].join().slice(64)) as {
        users: Record<string, { outage?: { code: string } }>;
      };
      return [slow, swapped].map(({ userID }) => users[userID]?.outage?.code);
    };
    const watch = await start(silent);
    while (store.size === 0) await setImmediate();
    expect(outages()).to.have.members(["TIMEOUT", "NO_TIME_LEFT"]);
    while (!isRaised("FILE_UNAVAILABLE", slow)) {
      time += HOUR / 4;
      const { errors } = await watch.check();
      expect(errors.map(String).join()).to.include("127.0.0.1").and.include("no time left for all files");
      // With an alarm, the function that makes its bundle requests the file, too.
      if (alarms.length === 0) expect(filesRead).to.equal(1);
    }
    // By now, the file host has withheld each file in a round of its own.
    expect(alarms).to.have.lengthOf(2);
    for (const { message, file } of alarms) {
      expect(JSON.parse(file.text)).to.have.nested.property("outage.code", "TIMEOUT");
      expect(message).to.include("TIMEOUT");
    }
  });

  it("leaves time for the files if an endpoint does not answer about a contact", async () => {
    const silent: typeof fetch = (url, init) =>
      JSON.stringify(init?.body ?? "").includes(userIDToHex(unpublished.userID)) ? never(init) : fetch(url, init);
    const watch = await start(silent, [{ userID: unpublished.userID, expectedPublicKey: unpublished.pubKey }]);
    while (!isRaised("CONTACT_KEY_MISMATCH", swapped)) await watch.check();
    expect(watch.status.contactsCheckedAt.has(unpublished.userID)).to.equal(false);
  });
  it("reads the contacts' files if the file of the app's user is withheld, and only regular rounds run", async () => {
    await chain.publish([own]);
    const { root } = makeMerkleFile([own]).tree;
    const watch = await start((url, init) =>
      (url as string).endsWith(`${root}.json`) ? never(init) : fetch(url, init),
    );
    const stored = () => [...store.values()].join();
    for (let round = 0, before = ""; round < 20; round++, before = stored()) {
      watch.resume();
      while (stored() === before) await setImmediate();
      time += 46_000;
    }
    expect(isRaised("CONTACT_KEY_MISMATCH", swapped)).to.equal(true);
  });
});
