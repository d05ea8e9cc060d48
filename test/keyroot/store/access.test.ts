import { expect } from "chai";
import type { KeyrootError, Store } from "keyroot";
import { asCache } from "../../../packages/keyroot/src/store/access.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

describe("a store during one call", () => {
  let texts: Map<string, string>;
  let failures: KeyrootError[];

  beforeEach(() => {
    texts = new Map();
    failures = [];
  });

  const open = (store: Partial<Store>, timeoutMs = 20 * ENDLESS_MS) =>
    asCache(
      "The store",
      { get: (name) => texts.get(name), set: (name, text) => texts.set(name, text), ...store },
      timeoutMs,
      (error) => failures.push(error),
    );
  const names = Array.from({ length: 50 }, (_, i) => `name ${i}`);
  const hang = () => new Promise<never>(() => undefined);
  const codes = () => failures.map(({ code }) => code);

  it("has stored all texts when it is closed, at most 16 at the same time", async () => {
    let running = 0;
    let most = 0;
    const store = open({
      async set(name, text) {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        texts.set(name, text);
        running--;
      },
    });
    for (const name of names) store.set(name, name);
    await store.close();
    expect([...texts.keys()].toSorted()).to.deep.equal(names.toSorted());
    expect(most).to.equal(16);
    expect(failures).to.deep.equal([]);
  });

  it("returns a text that is not stored yet", async () => {
    const store = open({ set: hang }, 10_000);
    store.set("a", "1");
    store.set("b", "");
    expect([await store.get("a"), await store.get("b"), await store.get("c")]).to.deep.equal(["1", "", undefined]);
  });

  it("stores the last text of a name last", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const store = open({
      async set(name, text) {
        if (text === "1") await released;
        texts.set(name, text);
      },
    });
    store.set("a", "1");
    await new Promise(setImmediate);
    store.set("a", "2");
    store.set("a", "3");
    release(undefined);
    await store.close();
    expect(texts.get("a")).to.equal("3");
  });

  it("stores the other texts if one is rejected", async () => {
    const store = open({
      set(name, text) {
        if (name === names[0] || name === names[1]) throw new Error("disk full");
        texts.set(name, text);
      },
    });
    for (const name of names) store.set(name, name);
    await store.close();
    expect([...texts.keys()].toSorted()).to.deep.equal(names.slice(2).toSorted());
    expect(codes()).to.deep.equal(["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    expect(String(failures[0])).to.include("The store is unavailable: disk full");
  });

  for (const stuck of ["get", "set"] as const)
    it(`is not used after a ${stuck} that does not end, and reports this once`, async () => {
      let accesses = 0;
      const store = open({ [stuck]: () => (accesses++, hang()) }, 200);
      if (stuck === "get") await Promise.all(names.map((name) => store.get(name)));
      else for (const name of names) store.set(name, name);
      await store.close();
      const before = accesses;
      expect(before).to.equal(stuck === "get" ? names.length : 16);
      texts.set("stored", "before");
      expect(await store.get("stored")).to.equal(undefined);
      store.set("a", "1");
      await store.close();
      expect(accesses).to.equal(before);
      expect(texts.has("a")).to.equal(false);
      expect(codes()).to.deep.equal(["STORE_UNAVAILABLE"]);
    });

  it("no longer delays the call if it is too slow for all texts", async () => {
    const list = Array.from({ length: 10_000 }, (_, i) => `name ${i}`);
    const store = open(
      {
        async set(name, text) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          texts.set(name, text);
        },
      },
      2000,
    );
    for (const name of list) store.set(name, name);
    await store.close();
    expect(texts.size).to.be.below(list.length);
    expect(codes()).to.deep.equal(["STORE_UNAVAILABLE"]);
  });
});
