import { expect } from "chai";
import type { KeyrootError, Store } from "keyroot";
import { asCache, type SafeStore } from "../../../packages/keyroot/src/store/access.ts";
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
  const unexpected = (error: KeyrootError) => {
    throw error;
  };
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
    for (const name of names) void store.set(name, name, true);
    await store.close();
    expect([...texts.keys()].toSorted()).to.deep.equal(names.toSorted());
    expect(most).to.equal(16);
    expect(failures).to.deep.equal([]);
  });

  it("returns a text that is not stored yet", async () => {
    const store = open({ set: hang }, 10_000);
    void store.set("a", "1");
    void store.set("b", "");
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
    void store.set("a", "1");
    await new Promise(setImmediate);
    void store.set("a", "2");
    void store.set("a", "3");
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
    for (const name of names) void store.set(name, name, true);
    await store.close();
    expect([...texts.keys()].toSorted()).to.deep.equal(names.slice(2).toSorted());
    expect(codes()).to.deep.equal(["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    expect(String(failures[0])).to.include("The store is unavailable: disk full");
  });

  for (const stuck of ["get", "set"] as const)
    it(`loses only the texts of a ${stuck} that does not end`, async () => {
      const access = {
        get: (name: string) => texts.get(name),
        set: (name: string, text: string) => texts.set(name, text),
      };
      const store = open(
        { [stuck]: (...args: [string, string]) => (args[0] === "stuck" ? hang() : access[stuck](...args)) },
        200,
      );
      texts.set("before", "1");
      void store.set("stuck", "1", true);
      await Promise.all([store.set("a", "2"), store.get("stuck")]);
      await store.close();
      expect([await store.get("before"), texts.get("a")]).to.deep.equal(["1", "2"]);
      expect(codes()).to.deep.equal(stuck === "set" ? ["STORE_UNAVAILABLE"] : []);
    });

  it("stores a text at once although others are queued", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const store = open({
      async set(name, text) {
        if (name !== "alarm") await released;
        texts.set(name, text);
      },
    });
    for (const name of names) void store.set(name, name, true);
    await store.set("alarm", "1");
    expect([...texts]).to.deep.equal([["alarm", "1"]]);
    release(undefined);
    await store.close();
    expect(texts.size).to.equal(names.length + 1);
  });

  it("never replaces a text by an earlier one that another call has queued", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const shared: Store = {
      get: (name) => texts.get(name),
      async set(name, text) {
        if (name !== "alarm") await released;
        texts.set(name, text);
      },
    };
    const [first, second] = [1, 2].map(() => asCache("The store", shared, 20 * ENDLESS_MS, unexpected)) as [
      SafeStore,
      SafeStore,
    ];
    for (const name of names) void first.set(name, name, true);
    void first.set("alarm", "", true);
    await second.set("alarm", "EQUIVOCATION");
    expect([await first.get("alarm"), await second.get("name 7")]).to.deep.equal(["EQUIVOCATION", "name 7"]);
    release(undefined);
    await first.close();
    expect(texts.get("alarm")).to.equal("EQUIVOCATION");
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
    for (const name of list) void store.set(name, name, true);
    await store.close();
    expect(texts.size).to.be.below(list.length);
    expect(codes()).to.deep.equal(["STORE_UNAVAILABLE"]);
  });
});
