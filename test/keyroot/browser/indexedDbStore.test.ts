import { expect } from "chai";
import hre from "hardhat";
import type { KeyRecord } from "keyroot";
import { startLocalChain } from "@keyroot/service/stack";
import { type Bundle, bundle } from "../../support/browser/bundle.ts";
import { type OpenPage, openPage } from "../../support/browser/openPage.ts";
import { describeIfNamed } from "../../support/named.ts";
import { installPackages } from "../../support/packages/installPackages.ts";
import { sampleRecords } from "../../support/samples.ts";
import { closedAfterAll } from "../../support/support.ts";
import { startWatchedChain, type WatchedChain } from "../../support/watch/watchedChain.ts";

/** An app that verifies a contact with a cache in the browser's database. */
const APP = `
import { createVerifier, oneEndpoint } from "keyroot";
import { indexedDbStore } from "keyroot/store/indexeddb";

globalThis.store = indexedDbStore("keys");
globalThis.reasonOf = (work) => work.then(() => "done", ({ code, message, cause }) => code + ": " + message + " " + cause?.name);
globalThis.verify = async (options, contact) => {
  const verifier = createVerifier({ ...options, trust: oneEndpoint({ block: "finalized" }), cache: store });
  const [{ verified, error, cacheError }] = await verifier.verifyMany([contact]);
  return { pubKey: verified?.record.pubKey ?? error.code, cacheError: cacheError && cacheError.code + ": " + cacheError.message };
};
`;

describeIfNamed(import.meta.filename)("indexedDbStore in Chromium", () => {
  const [contact] = sampleRecords(1) as [KeyRecord];
  const open = closedAfterAll();
  let chain: WatchedChain;
  let app: Bundle;
  let page: OpenPage;

  before(async () => {
    const local = await startLocalChain(hre, { port: 0 });
    chain = open(await startWatchedChain({ url: local.rpcUrl, close: () => local.close() }));
    await chain.publish([contact]);
    app = await bundle(APP, {}, await installPackages("keyroot"));
    page = open(await openPage(app, [chain.rpc, chain.merkleUrl]));
  });
  beforeEach(() => page.reload());

  const verify = () => {
    const { rpc, chainId, contract, merkleUrl } = chain;
    const { userID, pubKey: expectedPublicKey } = contact;
    const options = { rpc, chainId, contract, merkleUrl, limits: { timeoutMs: 20_000 } };
    return page.evaluate(`verify(${JSON.stringify(options)}, ${JSON.stringify({ userID, expectedPublicKey })})`);
  };
  const UNAVAILABLE = /^STORE_UNAVAILABLE: The browser's database keys is unavailable/;

  /**
   * Checks that the store fails with an error that names the database, and that a verification which uses it as a cache
   * succeeds and reports the failure.
   */
  async function expectOnlyTimeLost(accesses: readonly string[]): Promise<void> {
    for (const access of accesses) expect(await page.evaluate(`reasonOf(${access})`), access).to.match(UNAVAILABLE);
    const outcome = (await verify()) as { pubKey: string; cacheError?: string };
    expect(outcome.pubKey).to.equal(contact.pubKey);
    expect(outcome.cacheError).to.match(/^STORE_UNAVAILABLE: The cache is unavailable/);
  }
  const ACCESSES = [`store.get("a")`, `store.set("a", "1")`];

  it("stops waiting for a database that never opens, and opens it at a later access", async () => {
    await page.evaluate(`{
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = () => ({});
      globalThis.repair = () => (IDBFactory.prototype.open = open);
    }`);
    await expectOnlyTimeLost(ACCESSES);
    await page.evaluate("void repair()");
    // The verification may still wait for the database.
    await page.evaluate("reasonOf(store.get('a'))");
    expect(await page.evaluate(`reasonOf(store.set("a", "1"))`)).to.equal("done");
    expect(await page.evaluate(`store.get("a")`)).to.equal("1");
  });

  it("loses only time if the browser's storage is full", async () => {
    // The browser checks the limit of an origin without data at once.
    page = open(await openPage(app, [chain.rpc, chain.merkleUrl]));
    await page.reload();
    await page.limitStorage(1);
    expect(await page.evaluate(`reasonOf(store.set("a", "x".repeat(1e6)))`)).to.match(/ QuotaExceededError$/);
    await expectOnlyTimeLost([`store.set("a", "x".repeat(1e6))`]);
  });

  it("loses only time if the browser forbids storage", async () => {
    await page.evaluate(`Object.defineProperty(globalThis, "indexedDB", {
      get() {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    })`);
    await expectOnlyTimeLost(ACCESSES);
  });
});
