import { expect } from "chai";
import { setImmediate } from "node:timers/promises";
import hre from "hardhat";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { mock } from "node:test";
import { FINDING_CODES } from "../../../packages/operator/src/audit/finding.ts";
import { startLocalChain } from "@keyroot/service/stack";
import {
  type Alarm,
  ANY_KEY,
  type Contact,
  type KeyRecord,
  userIDToHex,
  type WatchKeysOptions,
  pinnedBlock,
} from "keyroot";
import { makeBundle, verifyBundle } from "keyroot/bundle";
import { ALARM_CODES } from "../../../packages/keyroot/src/watch/alarm.ts";
import { sampleRecords, sampleUserID, sha256 } from "../../support/samples.ts";
import { FaultyFetch } from "../../support/watch/faultyFetch.ts";
import { startWatchedChain, type WatchedChain } from "../../support/watch/watchedChain.ts";
import { WRONG_VALUES } from "../../support/data/junk.ts";
import { failure } from "../../support/support.ts";
import { type TestOptions, verifierAt } from "../../support/verifier/verifyOnce.ts";

const HOUR = 3_600_000;
const ZERO = `0x${"0".repeat(64)}`;

/** The parts of an alarm's file that the tests check. */
interface AlarmFile {
  format: string;
  code: string;
  userID: string;
  contract: string;
  expectedPublicKey?: string;
  published: { root: string; publicKey?: string; evidence: { block: { hash: string } } };
  now?: { root?: string };
  outage?: { attempts: number; code: string };
  bundle?: object;
}

describe("watch", () => {
  const [own, contact, late, never] = sampleRecords(4) as [KeyRecord, KeyRecord, KeyRecord, KeyRecord];
  let chain: WatchedChain;
  /** Controls the app, which starts with the first watch and ends after the test. */
  let app: AbortController;
  let network: FaultyFetch;
  let store: Map<string, string>;
  let alarms: Alarm[];
  let serverKeys: Contact[];
  let time: number;

  before(async () => {
    const local = await startLocalChain(hre, { port: 0 });
    chain = await startWatchedChain({ url: local.rpcUrl, close: () => local.close() });
    await chain.publish([own, contact]);
  });
  after(() => chain.close());

  beforeEach(() => {
    app = new AbortController();
    network = new FaultyFetch("watch", 0);
    store = new Map();
    alarms = [];
    serverKeys = [];
    time = Date.UTC(2030, 0, 1);
  });
  afterEach(() => {
    app.abort();
  });

  const start = (options: Partial<WatchKeysOptions> = {}, verifier: Partial<TestOptions> = {}) => {
    const { rpc, chainId, contract, merkleUrl } = chain;
    const all = { rpc, chainId, contract, merkleUrl, fetch: network.fetch, now: () => time, ...verifier };
    return verifierAt(all).watch({
      ...{ userID: own.userID, publicKey: own.pubKey, contacts: () => serverKeys, store, makeBundle },
      ...{ onAlarm: (alarm) => alarms.push(alarm), signal: app.signal, ...options },
    });
  };
  /** Returns the stored state without the hash in front of it. */
  const stored = () => {
    const [text = ""] = store.values();
    return JSON.parse(text.slice(64)) as { users: Record<string, { reported: string[] }>; nextAt: number };
  };
  const codes = () => alarms.map(({ code }) => code);
  const fileOf = (alarm: Alarm | undefined) => JSON.parse(alarm?.file.text ?? "{}") as AlarmFile;
  /** Changes the contract's answer about a user. */
  const answerRoot = (root: string) => {
    network.lie = (_, call) =>
      call?.method === "eth_call" && JSON.stringify(call.params).includes("ee94c797")
        ? Response.json({ jsonrpc: "2.0", id: call.id, result: root })
        : undefined;
  };

  describe("with honest servers", () => {
    it("raises no alarm while all keys are the published keys", async () => {
      serverKeys = [
        { userID: contact.userID, expectedPublicKey: contact.pubKey },
        { userID: late.userID, expectedPublicKey: never.pubKey },
        { userID: never.userID, expectedPublicKey: ANY_KEY },
      ];
      const watch = await start();
      for (let round = 0; round < 3; round++, time += HOUR) expect((await watch.check()).errors).to.deep.equal([]);
      expect(watch.status.checkedAt).to.equal(time - HOUR);
      expect(codes()).to.deep.equal([]);
    });

    it("reads a contact's file once, and then asks hourly whether the host serves it", async () => {
      serverKeys = [{ userID: contact.userID, expectedPublicKey: contact.pubKey }];
      const requests: (string | undefined)[] = [];
      const fetch: typeof globalThis.fetch = (url, init) => {
        if ((url as string).endsWith(".json")) requests.push(init?.method);
        return network.fetch(url, init);
      };
      const [alone] = sampleRecords(8).slice(7) as [KeyRecord];
      await chain.publish([alone]);
      const watch = await start({ userID: alone.userID, publicKey: alone.pubKey }, { fetch });
      await watch.check();
      expect(requests.splice(0)).to.deep.equal(["GET", "GET"]);
      for (let hour = 0; hour < 3; hour++) {
        time += HOUR;
        await watch.check();
        expect(requests.splice(0), "the own file and the contact's").to.have.members(["GET", "HEAD"]);
      }
      network.isHostDown = true;
      time += HOUR;
      const { errors } = await watch.check();
      expect(requests.splice(0)).to.have.members(["GET", "HEAD", "GET"]);
      expect(errors.map((error) => (error as Error & { code: string }).code)).to.deep.equal(
        Array(2).fill("FILE_HOST_ERROR"),
      );
    });

    it("compares the server's keys in each round, and reads the chain once in an epoch", async () => {
      serverKeys = [
        { userID: contact.userID, expectedPublicKey: contact.pubKey },
        { userID: never.userID, expectedPublicKey: ANY_KEY },
      ];
      await (await start()).check();
      let requests = 0;
      const fetch: typeof globalThis.fetch = (url, init) => {
        requests++;
        return network.fetch(url, init);
      };
      /** Waits for the round that a new watch starts, because the last pause is over. @returns its requests */
      const nextRound = async (ms: number) => {
        time += ms;
        requests = 0;
        const { nextAt } = stored();
        await start({}, { fetch });
        while (stored().nextAt === nextAt) await setImmediate();
        return requests;
      };
      expect(await nextRound(45_000)).to.equal(0);
      expect(await nextRound(383_999 - 45_000)).to.equal(0);
      serverKeys = [{ userID: contact.userID, expectedPublicKey: late.pubKey }];
      expect(await nextRound(45_000)).to.be.above(0);
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
    });

    it("checks a key in the first round after its publication", async () => {
      const [fresh] = sampleRecords(6).slice(5) as [KeyRecord];
      const watch = await start({ userID: fresh.userID, publicKey: contact.pubKey });
      await watch.check();
      expect(codes()).to.deep.equal([]);
      await chain.publish([{ ...fresh, pubKey: own.pubKey, keyID: own.keyID }]);
      await watch.check();
      expect(codes()).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
      const { expectedPublicKey, published } = fileOf(alarms[0]);
      expect({ expectedPublicKey, publicKey: published.publicKey }).to.deep.equal({
        expectedPublicKey: contact.pubKey,
        publicKey: own.pubKey,
      });
    });
  });

  describe("after a server swapped a contact's key", () => {
    beforeEach(() => {
      serverKeys = [{ userID: contact.userID, expectedPublicKey: late.pubKey }];
    });

    it("raises CONTACT_KEY_MISMATCH once for each swap", async () => {
      const watch = await start();
      await watch.check();
      await watch.check();
      await (await start()).check();
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
      serverKeys = [{ userID: contact.userID, expectedPublicKey: contact.pubKey }];
      await watch.check();
      serverKeys = [{ userID: contact.userID, expectedPublicKey: late.pubKey }];
      await watch.check();
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH", "CONTACT_KEY_MISMATCH"]);
    });

    it("returns evidence that others can verify offline", async () => {
      await (await start()).check();
      const { bundle, published, ...file } = fileOf(alarms[0]);
      expect(file).to.include({ format: "keyroot-alarm-v1", userID: contact.userID, expectedPublicKey: late.pubKey });
      const { chainId, contract } = chain;
      const trust = pinnedBlock(published.evidence.block.hash);
      const { record } = await verifyBundle(bundle, {
        userID: contact.userID,
        chainId,
        contract,
        expectedPublicKey: ANY_KEY,
        trust,
      });
      expect(record).to.deep.equal(contact);
    });

    it("raises the alarm offline if the published key is known", async () => {
      const swapped = serverKeys;
      serverKeys = [{ userID: contact.userID, expectedPublicKey: contact.pubKey }];
      const watch = await start();
      await watch.check();
      network.isOffline = true;
      serverKeys = swapped;
      await watch.check();
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
      expect(fileOf(alarms[0])).to.not.have.property("bundle");
    });
  });

  describe("after an endpoint changed its answer", () => {
    for (const [what, root] of Object.entries({ "another root": `0x${sha256("another")}`, "no root": ZERO })) {
      it(`raises WATCHED_ROOT_CHANGED once for ${what}`, async () => {
        const watch = await start();
        await watch.check();
        answerRoot(root);
        await watch.check();
        await watch.check();
        expect(codes()).to.deep.equal(["WATCHED_ROOT_CHANGED"]);
        const { published, now } = fileOf(alarms[0]);
        expect(published).to.include({ publicKey: own.pubKey });
        expect(now?.root).to.equal(root === ZERO ? undefined : root.slice(2));
      });
    }

    it("raises no alarm for an endpoint that is behind", async () => {
      const watch = await start({}, { limits: { timeoutMs: 100 } });
      await watch.check();
      network.perMille = 1000;
      for (let round = 0; round < 20; round++) await watch.check();
      expect(codes()).to.deep.equal([]);
      expect(network.count).to.have.property("lagging");
    });
  });

  describe("with an endpoint that returns false answers from the first round", () => {
    it("raises no alarm, because no earlier answer differs", async () => {
      answerRoot(ZERO);
      const watch = await start();
      for (let round = 0; round < 2; round++) await watch.check();
      expect(codes()).to.deep.equal([]);
    });
  });

  describe("while a file host withholds a file", () => {
    it("raises FILE_UNAVAILABLE after the limit if the chain is available", async () => {
      const watch = await start();
      network.isHostDown = true;
      for (let minutes = 0; minutes < 24 * 60; minutes += 10, time += HOUR / 6) await watch.check();
      expect(codes()).to.deep.equal([]);
      network.isOffline = true;
      for (let i = 0; i < 10; i++, time += HOUR / 6) await watch.check();
      expect(codes()).to.deep.equal([]);
      network.isOffline = false;
      await watch.check();
      expect(codes()).to.deep.equal(["FILE_UNAVAILABLE"]);
      expect(fileOf(alarms[0]).outage).to.include({ code: "FILE_HOST_ERROR" });
    });
  });

  describe("against a server that prevents alarms", () => {
    const strangers = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ userID: sampleUserID(1000 + from + i), expectedPublicKey: ANY_KEY }));
    const swapped = { userID: contact.userID, expectedPublicKey: late.pubKey };

    it("reads each of n contacts within n / 32 rounds", async () => {
      const others = strangers(0, 40);
      let added = 40;
      let list: Contact[] = [...others, swapped];
      const watch = await start({ contacts: () => (list = [...strangers((added += 25), 25), ...list]) });
      // The watch itself starts the first round, which has the same list.
      const rounds = Math.ceil((others.length + 1 + 25) / 32);
      for (let i = 0; i < rounds; i++) await watch.check();
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
    });

    it("remembers a contact that every second list omits", async () => {
      let calls = 0;
      const contacts = () => [...strangers(25 * ++calls, 25), ...(calls % 2 === 0 ? [swapped] : [])];
      const watch = await start({ contacts });
      for (let i = 0; i < 6; i++) await watch.check();
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
    });

    it("reports the time of the last answer for each user", async () => {
      serverKeys = [
        { userID: contact.userID, expectedPublicKey: contact.pubKey },
        { userID: never.userID, expectedPublicKey: ANY_KEY },
      ];
      const watch = await start();
      const first = time;
      await watch.check();
      time += 2 * HOUR;
      network.lie = (_, call) =>
        JSON.stringify(call?.params ?? "").includes(userIDToHex(own.userID))
          ? new Response("", { status: 500 })
          : undefined;
      const { checkedAt, contactsCheckedAt } = await watch.check();
      expect(checkedAt).to.equal(first);
      expect([...contactsCheckedAt.keys()]).to.have.members([contact.userID, never.userID]);
      expect(contactsCheckedAt.get(contact.userID)).to.equal(time);
    });

    it("reports the last times while the list of contacts fails, and none for a contact that left it", async () => {
      let contacts = (): Contact[] => [{ userID: contact.userID, expectedPublicKey: contact.pubKey }];
      const watch = await start({ contacts: () => contacts() });
      const { contactsCheckedAt } = await watch.check();
      contacts = () => {
        throw new Error("The service is unavailable.");
      };
      time += HOUR;
      for (let round = 0; round < 2; round++)
        expect((await watch.check()).contactsCheckedAt).to.deep.equal(contactsCheckedAt);
      expect(contactsCheckedAt).to.deep.equal(new Map([[contact.userID, time - HOUR]]));
      contacts = () => [];
      expect((await watch.check()).contactsCheckedAt).to.deep.equal(new Map());
    });

    it("reports malformed contacts and checks the others", async () => {
      const malformed = [null, 7, {}, { userID: "nobody" }, { userID: own.userID, expectedPublicKey: "short" }];
      const watch = await start({ contacts: () => [...malformed, swapped] as never });
      const { errors } = await watch.check();
      expect(errors).to.have.lengthOf(malformed.length);
      for (const error of errors) expect(error).to.include({ name: "ArgumentError" });
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
    });

    it("keeps known users within its limit of 5,000 users", async () => {
      network.isOffline = true;
      let list: object[] = [swapped];
      const watch = await start({ contacts: () => list as never });
      await watch.check();
      for (const first of [0, 6000]) {
        list = [...strangers(first, 6000), swapped, ...Array.from({ length: 1000 }, () => ({}))];
        const { errors } = await watch.check();
        expect(errors).to.have.length.below(200);
        expect(errors.map(String).join()).to.include("The number of contacts must be at most 4999, but is ");
      }
      const { users } = stored();
      expect(Object.keys(users)).to.have.lengthOf(5000);
      expect(users).to.include.keys(own.userID, contact.userID);
    });

    it("keeps a limited list of reported changes", async () => {
      const watch = await start();
      for (let i = 0; i < 30; i++) {
        answerRoot(`0x${sha256(String(i))}`);
        await watch.check();
      }
      expect(stored().users[own.userID]?.reported).to.have.length.within(15, 25);
    });
  });

  describe("while a server is unavailable", () => {
    it("reports the failure in its status, and raises no alarm", async () => {
      network.isOffline = true;
      const watch = await start({
        contacts: () => {
          throw new Error("The service is unavailable.");
        },
      });
      const { checkedAt, errors } = await watch.check();
      expect(checkedAt).to.equal(undefined);
      expect(errors.map((error) => (error as Error).message).join()).to.match(/The service is unavailable.*failed/);
      expect(codes()).to.deep.equal([]);
    });

    it("doubles the wait after each failure, up to 5 minutes", async () => {
      network.isOffline = true;
      const watch = await start();
      const waits: number[] = [];
      for (let round = 0; round < 5; round++) {
        if (round === 4) network.isOffline = false;
        await watch.check();
        waits.push(stored().nextAt - time);
      }
      // The watch has already started one round itself.
      const limits = [180_000, 300_000, 300_000, 300_000, 45_000];
      for (const [i, limit] of limits.entries()) expect(waits[i], String(i)).to.be.within(limit * 0.75, limit);
    });

    it("waits at most 5 minutes if the clock is set back by a day during a round", async () => {
      const timers = mock.method(globalThis, "setTimeout");
      try {
        await start({
          contacts: () => {
            time -= 24 * HOUR;
            return [];
          },
        });
        while (store.size === 0) await setImmediate();
        await setImmediate();
        const waits = timers.mock.calls.map(({ arguments: [, ms = 0] }) => ms);
        expect(Math.max(...waits)).to.equal(300_000);
      } finally {
        timers.mock.restore();
      }
    });

    it("repeats an alarm if the app's alarm function failed", async () => {
      serverKeys = [{ userID: contact.userID, expectedPublicKey: late.pubKey }];
      let calls = 0;
      const problem = new Error("The window is closed.");
      const errors: unknown[] = [];
      const watch = await start({
        onAlarm: () => {
          if (++calls === 1) throw problem;
        },
      });
      // The watch itself starts the first round.
      for (let round = 0; round < 3; round++) errors.push(...(await watch.check()).errors);
      expect(calls).to.equal(2);
      expect(errors.every((error) => error === problem)).to.equal(true);
    });

    const stuck = {
      throws: () => {
        throw new Error("413 from the report server");
      },
      "never resolves": () => new Promise<never>(() => undefined),
    };
    for (const [what, fail] of Object.entries(stuck))
      for (const name of ["onAlarm", "makeBundle"] as const)
        it(`raises the alarms of other contacts if ${name} ${what} for one`, async () => {
          serverKeys = [contact, own].map(({ userID }) => ({ userID, expectedPublicKey: late.pubKey }));
          const raised = new Set<string>();
          const watch = await start(
            {
              ...(name === "makeBundle" ? { makeBundle: fail } : {}),
              onAlarm: ({ userID }) => (raised.add(userID), name === "onAlarm" && userID === contact.userID && fail()),
              userID: late.userID,
              publicKey: late.pubKey,
            },
            { limits: { timeoutMs: 300 } },
          );
          while (raised.size < 2) await watch.check();
          await watch.check();
          const { users } = stored();
          expect(users[own.userID]?.reported).to.have.lengthOf(1);
          expect(users[contact.userID]?.reported).to.have.lengthOf(name === "onAlarm" ? 0 : 1);
        });

    it("raises an alarm once, and reports the store's error, if the store fails", async () => {
      serverKeys = [{ userID: contact.userID, expectedPublicKey: late.pubKey }];
      const set = () => Promise.reject(new Error("The disk is full."));
      const watch = await start({ store: { get: () => undefined, set } });
      for (let round = 0; round < 3; round++) {
        const { errors } = await watch.check();
        expect(errors.map((error) => (error as { code: string }).code)).to.deep.equal(["STORE_UNAVAILABLE"]);
        expect(String(errors[0])).to.include("The watch's store is unavailable: The disk is full.");
      }
      expect(codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
    });

    for (const [what, change] of [
      ["stores nothing more", (text: string) => text],
      ["damages the state", (text: string) => text.slice(1)],
    ] as const) {
      it(`continues with the state of its last round if the store ${what}`, async () => {
        serverKeys = [{ userID: contact.userID, expectedPublicKey: late.pubKey }];
        const full = { get: (name: string) => store.get(name), set: () => Promise.reject(new Error("full")) };
        await (await start()).check();
        app.abort();
        app = new AbortController();
        for (const [name, text] of store) store.set(name, change(text));
        alarms = [];
        serverKeys = [{ userID: contact.userID, expectedPublicKey: never.pubKey }];
        const watch = await start({ store: full, fileLimitMs: HOUR });
        await watch.check();
        network.lie = (url) => (url.endsWith(".json") ? new Response("", { status: 503 }) : undefined);
        for (let attempt = 0; attempt < 9; attempt++, time += HOUR / 4) await watch.check();
        const users = [own.userID, contact.userID];
        expect(alarms.map(({ code, userID }) => [code, userID])).to.have.deep.members([
          ["CONTACT_KEY_MISMATCH", contact.userID],
          ...users.map((userID) => ["FILE_UNAVAILABLE", userID]),
        ]);
      });
    }
  });

  it("checks all keys again if its state is damaged", async () => {
    serverKeys = [{ userID: contact.userID, expectedPublicKey: never.pubKey }];
    await (await start()).check();
    const [[name, text] = ["", ""]] = store;
    const state = text.slice(64);
    const states = ['{"users":{}}', '{"users":null}', '{"users":{},"nextAt":"x","failures":0}', "null", "[]", "{}"];
    const places = Array.from({ length: 40 }, (_, i) => Math.floor((i * text.length) / 40));
    const damaged = [
      ...places.map((at) => text.slice(0, at)),
      ...places.map((at) => `${text.slice(0, at)}${text[at] === "0" ? "1" : "0"}${text.slice(at + 1)}`),
      ...[text + text, state, state.replace('"users":{', '"users":['), "x", "7", "{", ...states],
      // These states have the right hash.
      ...states.map((json) => sha256(json) + json),
      ...[null, 7, {}, [], new Date(0)].map((value) => value as unknown as string),
    ];
    for (const value of damaged) {
      app.abort();
      app = new AbortController();
      alarms = [];
      store.set(name, value);
      time += 1000;
      const watch = await start();
      expect((await watch.check()).errors.map(String), `the value ${value}`).to.deep.equal([]);
      expect(watch.status.checkedAt, `the value ${value}`).to.equal(time);
      expect(codes(), `the value ${value}`).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
    }
  });

  describe("in several tabs", () => {
    it("runs one round at a time for all tabs", async () => {
      let running = 0;
      let rounds = 0;
      const contacts = async () => {
        rounds++;
        expect(++running).to.equal(1);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running--;
        return [];
      };
      const tabs = await Promise.all(Array.from({ length: 5 }, () => start({ contacts, intervalMs: 100_000 })));
      // This check runs after the first rounds of all tabs.
      await tabs[0]?.check();
      expect(rounds).to.equal(2);
    });

    it("delays rounds until the end of a pause", async () => {
      const contacts = mock.fn(() => []);
      const rounds = () => contacts.mock.callCount();
      const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      const watch = await start({ intervalMs: 1, contacts });
      watch.pause();
      await watch.check();
      const before = rounds();
      time += HOUR;
      await wait(50);
      expect(rounds()).to.equal(before);
      watch.resume();
      while (rounds() === before) await wait(1);
      await watch.check();
      expect(watch.status.checkedAt).to.equal(time);
    });

    it("reports each contact's time after a pause and in another tab, before the next round", async () => {
      serverKeys = [{ userID: contact.userID, expectedPublicKey: contact.pubKey }];
      const watch = await start();
      const before = await watch.check();
      watch.pause();
      watch.resume();
      while (watch.status === before) await setImmediate();
      expect(watch.status).to.deep.equal(before);
      const other = await start();
      while (other.status.checkedAt === undefined) await setImmediate();
      expect(other.status).to.deep.equal(before);
      expect(before.contactsCheckedAt).to.deep.equal(new Map([[contact.userID, time]]));
    });

    it("ends when the signal aborts", async () => {
      const watch = await start();
      app.abort();
      expect(await failure(watch.check())).to.include({ name: "AbortError" });
    });
  });

  describe("with invalid options", () => {
    it("rejects missing options, misspelled names and values of a wrong type", async () => {
      const valid = { userID: own.userID, publicKey: own.pubKey, store, makeBundle, onAlarm: () => undefined };
      for (const name of Object.keys(valid)) {
        for (const value of [undefined, ...WRONG_VALUES]) {
          if ((typeof value === "function" && /^(?:onAlarm|makeBundle)$/.test(name)) || value instanceof Map) continue;
          const error = await failure(start({ ...valid, [name]: value }));
          expect(error, `${name} ${typeof value}`).to.include({ name: "ArgumentError" });
        }
      }
      for (const wrong of [
        { intervalMs: 0 },
        { recheckMs: -1 },
        { fileLimitMs: "1" },
        { contacts: [] },
        { onalarm: 1 },
      ]) {
        expect(await failure(start(wrong as unknown as WatchKeysOptions))).to.include({ code: "ARGUMENT_INVALID" });
      }
    });

    it("rejects a pinned block", async () => {
      expect(await failure(start({}, { trust: pinnedBlock(ZERO) }))).to.include({ code: "ARGUMENT_INVALID" });
    });
  });

  it("has a row in docs/watching.md for each alarm and option", async () => {
    const project = join(import.meta.dirname, "../../..");
    const [page = ""] = (await readFile(join(project, "docs/watching.md"), "utf8")).split("## On a server");
    const rows = (pattern: RegExp) => Array.from(page.matchAll(pattern), ([, name]) => name);
    expect(rows(/^\| `([A-Z_]+)` +\|/gm)).to.have.members([...ALARM_CODES]);
    const source = await readFile(join(project, "packages/keyroot/src/watch/watch.ts"), "utf8");
    const [, body = ""] = /export interface WatchKeysOptions \{([^]*?)\n\}/.exec(source) ?? [];
    expect(rows(/^\| `([a-z]\w+)` +\|/gm)).to.have.members(
      Array.from(body.matchAll(/^ {2}(\w+)\??:/gm), ([, name]) => name),
    );
    expect(FINDING_CODES.damage).to.include.members([
      "WATCHED_KEY_MISMATCH",
      "WATCHED_ROOT_CHANGED",
      "FILE_UNAVAILABLE",
    ]);
  });
});
