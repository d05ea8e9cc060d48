import { expect } from "chai";
import hre from "hardhat";
import { setTimeout as sleep } from "node:timers/promises";
import { startLocalChain } from "@keyroot/service/stack";
import type { KeyRecord } from "keyroot";
import { sampleRecords } from "../../support/samples.ts";
import { startWatchedChain, type WatchedChain } from "../../support/watch/watchedChain.ts";
import { closedAfterAll } from "../../support/support.ts";
import { describeIfNamed } from "../../support/named.ts";
import { installPackages } from "../../support/packages/installPackages.ts";
import { bundle } from "../../support/browser/bundle.ts";
import { type OpenPage, openPage, type Tab } from "../../support/browser/openPage.ts";

/** An app that uses the packed library. `serverKeys` contains the keys that its server returns for the contacts. */
const APP = `
import { createVerifier, oneEndpoint } from "keyroot";
import { makeBundle } from "keyroot/bundle";
import { indexedDbStore } from "keyroot/store/indexeddb";

Object.assign(globalThis, { violations: [], alarms: [], calls: 0, serverKeys: [], indexedDbStore });
document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => violations.push(effectiveDirective));
globalThis.start = async (verifier, { database, ...options }) => {
  globalThis.watch = await createVerifier({ ...verifier, trust: oneEndpoint() }).watch({
    ...options,
    contacts: () => {
      calls++;
      return serverKeys;
    },
    store: indexedDbStore(database),
    makeBundle,
    onAlarm: ({ code, file }) => alarms.push({ code, ...JSON.parse(file.text) }),
  });
};
/** Resolves when the condition is true. */
globalThis.until = async (condition) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 50));
};
`;

/** One day in ms. With this interval, no second round starts by itself during a test. */
const DAY = 86_400_000;

describeIfNamed(import.meta.filename)("watch in Chromium, under a strict content security policy", () => {
  const [own, contact, other] = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];
  const open = closedAfterAll();
  let chain: WatchedChain;
  let page: OpenPage;
  let databases = 0;

  before(async () => {
    const local = await startLocalChain(hre, { port: 0 });
    chain = open(await startWatchedChain({ url: local.rpcUrl, close: () => local.close() }));
    await chain.publish([own, contact]);
    const app = await bundle(APP, {}, await installPackages("keyroot"));
    page = open(await openPage(app, [chain.rpc, chain.merkleUrl]));
  });
  beforeEach(async () => {
    await page.reload();
    databases++;
  });

  /** Starts a watch in a tab. All tabs of a test share a database. */
  const start = (tab: Pick<Tab, "evaluate">, database = `test-${databases}`, options: object = {}) => {
    const { rpc, chainId, contract, merkleUrl } = chain;
    const watched = { userID: own.userID, publicKey: own.pubKey, database, ...options };
    return tab.evaluate(`start(${JSON.stringify({ rpc, chainId, contract, merkleUrl })}, ${JSON.stringify(watched)})`);
  };
  const serve = (tab: Pick<Tab, "evaluate">, { pubKey }: KeyRecord) =>
    tab.evaluate(`serverKeys = ${JSON.stringify([{ userID: contact.userID, expectedPublicKey: pubKey }])}`);
  const codes = (tab: Pick<Tab, "evaluate"> = page) => tab.evaluate("alarms.map(({ code }) => code)");

  it("raises no alarm while the server returns the published keys", async () => {
    await serve(page, contact);
    await start(page);
    await page.evaluate("until(() => watch.status.checkedAt !== undefined)");
    expect(await page.evaluate("watch.check().then(({ errors }) => errors.map(String))")).to.deep.equal([]);
    expect(await codes()).to.deep.equal([]);
  });

  it("raises one alarm with evidence for a swapped key", async () => {
    await serve(page, other);
    await start(page);
    await page.evaluate("until(() => alarms.length > 0)");
    const [alarm] = await page.evaluate<Record<string, unknown>[]>("alarms");
    expect(alarm).to.include({
      code: "CONTACT_KEY_MISMATCH",
      format: "keyroot-alarm-v1",
      userID: contact.userID,
      expectedPublicKey: other.pubKey,
    });
    expect(alarm).to.have.property("bundle").that.is.an("object");

    await page.reload();
    await serve(page, other);
    await start(page);
    await page.evaluate("watch.check()");
    expect(await codes()).to.deep.equal([]);
  });

  it("runs each round in only one tab", async () => {
    await start(page, undefined, { intervalMs: DAY });
    await page.evaluate("until(() => watch.status.checkedAt !== undefined)");
    for (let tabs = 0; tabs < 2; tabs++) {
      const tab = await page.openTab();
      await start(tab, undefined, { intervalMs: DAY });
      // Afterwards, the second tab has read the result of the first tab's round.
      await tab.evaluate("until(() => watch.status.checkedAt !== undefined)");
      expect(await tab.evaluate("calls")).to.equal(0);
      await tab.close();
    }
    expect(await page.evaluate("calls")).to.equal(1);
  });

  it("repeats a round in another tab after the first tab closed", async () => {
    const first = await page.openTab();
    await first.evaluate("void (serverKeys = new Promise(() => {}))");
    await start(first);
    await first.evaluate("until(() => calls === 1)");
    await serve(page, other);
    await start(page);
    expect(await page.evaluate("calls")).to.equal(0);
    await first.close();
    await page.evaluate("until(() => alarms.length > 0)");
    expect(await codes()).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
  });

  it("sends no request while the browser is offline", async () => {
    await page.evaluate('Object.defineProperty(navigator, "onLine", { get: () => false, configurable: true })');
    await start(page, undefined, { intervalMs: 50 });
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))");
    expect(await page.evaluate("[calls, watch.status.errors.length]")).to.deep.equal([0, 0]);
    await page.evaluate("delete navigator.onLine");
    await page.evaluate("until(() => watch.status.checkedAt !== undefined)");
  });

  it("connects only to the endpoint and the file host", async () => {
    await serve(page, other);
    await start(page);
    await page.evaluate("until(() => alarms.length > 0)");
    expect(await page.evaluate("violations")).to.deep.equal([]);
    const origins = new Set(page.requests.map((url) => new URL(url).origin));
    expect(origins).to.deep.equal(new Set([page.origin, chain.rpc, chain.merkleUrl]));
  });

  it("raises an alarm within 60 s of a swap by default", async () => {
    const tab = await page.openStopped();
    await start(tab);
    while ((await tab.evaluate("watch.status.checkedAt")) === undefined) await sleep(50);
    await serve(tab, other);
    await tab.clock.fastForward(60_000);
    while ((await tab.evaluate("alarms.length")) === 0) await sleep(50);
    expect(await codes(tab)).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
    await tab.close();
  });

  describe("indexedDbStore", () => {
    const evaluate = (code: string) => page.evaluate(`(async () => { ${code} })()`);

    it("returns the last stored text in every tab", async () => {
      await evaluate(`const store = indexedDbStore("texts"); await store.set("a", "1"); await store.set("a", "2");`);
      const read = `const store = indexedDbStore("texts"); return [await store.get("a"), await store.get("b")];`;
      expect(await evaluate(read)).to.deep.equal(["2", undefined]);
      await page.reload();
      expect(await evaluate(read)).to.deep.equal(["2", undefined]);
      const tab = await page.openTab();
      expect(await tab.evaluate(`(async () => { ${read} })()`)).to.deep.equal(["2", undefined]);
      await tab.close();
    });

    it("opens the database again after another tab deleted it", async () => {
      const code = `
        const store = indexedDbStore("deleted");
        await store.set("a", "1");
        await new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase("deleted");
          request.onsuccess = resolve;
          request.onerror = request.onblocked = reject;
        });
        const deleted = await store.get("a");
        await store.set("a", "2");
        return [deleted, await store.get("a")];`;
      expect(await evaluate(code)).to.deep.equal([undefined, "2"]);
    });

    it("ignores damaged values", async () => {
      await serve(page, other);
      await start(page);
      await page.evaluate("until(() => alarms.length > 0)");
      const values = [
        '"x"',
        "7",
        "null",
        "({})",
        "new ArrayBuffer(8)",
        "new Date(0)",
        "text.slice(0, -1)",
        "text + text",
      ];
      for (const [i, value] of values.entries()) {
        const database = `damaged-${i}`;
        const copy = `
          const open = (name) => new Promise((resolve) => (indexedDB.open(name).onsuccess = ({ target }) => resolve(target.result)));
          const done = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
          const source = (await open("test-${databases}")).transaction("texts").objectStore("texts");
          const [name] = await done(source.getAllKeys());
          const text = await done(source.get(name));
          const store = indexedDbStore("${database}");
          await store.set(name, "");
          const target = (await open("${database}")).transaction("texts", "readwrite").objectStore("texts");
          await done(target.put(${value}, name));`;
        await evaluate(copy);
        await page.reload();
        await serve(page, other);
        await start(page, database);
        expect(await page.evaluate("watch.check().then(({ errors }) => errors.map(String))"), value).to.deep.equal([]);
        expect(await codes(), value).to.deep.equal(["CONTACT_KEY_MISMATCH"]);
      }
    });

    it("throws STORE_UNAVAILABLE if the browser cannot open the database", async () => {
      const code = `
        await new Promise((resolve) => (indexedDB.open("newer", 2).onsuccess = ({ target }) => resolve(target.result.close())));
        const store = indexedDbStore("newer");
        return Promise.all([store.get("a"), store.set("a", "1")].map((it) => it.catch(({ code }) => code)));`;
      expect(await evaluate(code)).to.deep.equal(["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    });
  });
});
