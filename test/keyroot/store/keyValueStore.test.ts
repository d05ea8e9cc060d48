import { expect } from "chai";
import { DatabaseSync } from "node:sqlite";
import { type KeyValueStorage, keyValueStore } from "../../../packages/keyroot/src/store/keyValueStore.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { failure } from "../../support/support.ts";

/** A storage like AsyncStorage. It returns promises, and null for a missing name. Its methods need `this`. */
class AsyncStorage implements KeyValueStorage {
  readonly #texts = new Map<string, string>();

  async getItem(name: string): Promise<string | null> {
    return Promise.resolve(this.#texts.get(name) ?? null);
  }

  async setItem(name: string, text: string): Promise<void> {
    if (text.length > 100) throw new Error("database or disk is full (code 13 SQLITE_FULL)");
    await Promise.resolve(this.#texts.set(name, text));
  }
}

/** A storage like MMKV. It is synchronous, and returns undefined for a missing name. */
function mmkv(): KeyValueStorage {
  const storage = new Map<string, string>();
  return { getItem: (name) => storage.get(name), setItem: (name, text) => storage.set(name, text) };
}

/** A storage in SQLite with the SQL statements from docs/platforms.md. */
function sqlite(): KeyValueStorage {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE texts (name TEXT PRIMARY KEY, text TEXT NOT NULL)");
  return {
    getItem: (name) => database.prepare("SELECT text FROM texts WHERE name = ?").get(name)?.["text"],
    setItem: (name, text) => database.prepare("INSERT OR REPLACE INTO texts VALUES (?, ?)").run(name, text),
  };
}

describe("keyValueStore", () => {
  for (const [name, open] of Object.entries({ AsyncStorage: () => new AsyncStorage(), mmkv, sqlite })) {
    it(`returns the last stored text from ${name}`, async () => {
      const storage = open();
      const store = keyValueStore(storage);
      expect(await store.get("keyroot-watch-v1:1:a")).to.equal(undefined);
      await store.set("keyroot-watch-v1:1:a", "1");
      await store.set("keyroot-watch-v1:1:a", "Ω");
      await store.set("b", "");
      const reopened = keyValueStore(storage);
      expect([await reopened.get("keyroot-watch-v1:1:a"), await reopened.get("b")]).to.deep.equal(["Ω", ""]);
    });
  }

  it("throws STORE_UNAVAILABLE if the storage fails", async () => {
    const full = keyValueStore(new AsyncStorage());
    const broken = keyValueStore({
      getItem: () => 1,
      setItem: () => {
        throw new Error("closed");
      },
    });
    for (const access of [() => full.set("a", "x".repeat(101)), () => broken.get("a"), () => broken.set("a", "1")])
      expect(await failure(Promise.resolve(access()))).to.have.property("code", "STORE_UNAVAILABLE");
    expect(await full.get("a")).to.equal(undefined);
  });

  it("rejects a storage without the required functions", () => {
    for (const storage of [undefined, {}, { getItem: mmkv }, { setItem: mmkv }])
      expect(refusalOf(keyValueStore, storage as unknown as KeyValueStorage)).to.equal("ARGUMENT_INVALID");
  });
});
