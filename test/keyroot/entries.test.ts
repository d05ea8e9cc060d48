import { expect } from "chai";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as account from "../../packages/keyroot/src/account.ts";
import * as auditors from "../../packages/keyroot/src/auditors.ts";
import * as beacon from "../../packages/keyroot/src/lightClient.ts";
import * as bundle from "../../packages/keyroot/src/bundle.ts";
import * as keyTypes from "../../packages/keyroot/src/keyTypes.ts";
import * as merkle from "../../packages/keyroot/src/merkle.ts";
import * as records from "../../packages/keyroot/src/records.ts";
import * as library from "../../packages/keyroot/src/index.ts";
import * as serviceWorker from "../../packages/keyroot/src/serviceWorker.ts";
import * as safetyCode from "../../packages/keyroot/src/safetyCode.ts";
import * as fileStore from "../../packages/keyroot/src/store/fileStore.ts";
import * as indexedDb from "../../packages/keyroot/src/store/indexedDbStore.ts";
import * as keyValueStore from "../../packages/keyroot/src/store/keyValueStore.ts";
import { junk, keyrootErrorOf } from "../support/data/junk.ts";

type Loose = (...args: unknown[]) => unknown;

const ENTRIES: Record<string, Record<string, unknown>> = {
  keyroot: library,
  "keyroot/account": account,
  "keyroot/auditors": auditors,
  "keyroot/key-types": keyTypes,
  "keyroot/light-client": beacon,
  "keyroot/bundle": bundle,
  "keyroot/merkle": merkle,
  "keyroot/records": records,
  "keyroot/safety-code": safetyCode,
  "keyroot/service-worker": serviceWorker,
  "keyroot/store/file": fileStore,
  "keyroot/store/indexeddb": indexedDb,
  "keyroot/store/key-value": keyValueStore,
};

/** Calls a function or constructs a class. Awaits or iterates over the result. */
async function use(exported: Loose, isClass: boolean, args: unknown[]): Promise<void> {
  const result = (isClass ? Reflect.construct(exported, args) : await exported(...args)) as Generator | undefined;
  if (typeof result?.next !== "function") return;
  for (let i = 0; i < 10 && result.next().done !== true; i++);
}

describe("exported functions of the keyroot package", () => {
  it("belong to the entries in the README table", () => {
    const readme = readFileSync(join(import.meta.dirname, "../../packages/keyroot/README.md"), "utf8");
    const rows = [...readme.matchAll(/^\| (`keyroot[^|]*)\|/gm)].map(([, names = ""]) => names);
    const documented = rows.flatMap((names) => [...names.matchAll(/`(keyroot[^`]*)`/g)].map(([, name = ""]) => name));
    const entries = documented.filter((name) => !name.endsWith(".json"));
    expect(new Set(entries)).to.deep.equal(new Set(Object.keys(ENTRIES)));
  });

  it("are all in keyroot/service-worker, except stores in files", () => {
    const { ["keyroot/store/file"]: files, ...others } = ENTRIES;
    expect(files).to.not.be.empty;
    const names = Object.values(others).flatMap((entry) => Object.keys(entry));
    expect(Object.keys(serviceWorker)).to.have.members([...new Set(names)]);
  });

  for (const [entry, names] of Object.entries(ENTRIES)) {
    // It exports the functions of the others.
    if (entry === "keyroot/service-worker") continue;
    const functions = Object.entries(names).filter(
      (pair): pair is [string, Loose] => typeof pair[1] === "function" && !pair[0].endsWith("Error"),
    );
    it(`throw only a KeyrootError for any arguments, in the ${entry} entry`, async () => {
      if (entry !== "keyroot/key-types") expect(functions).to.not.be.empty;
      for (const [name, exported] of functions) {
        const isClass = /^[A-Z]/.test(name);
        const property = fc.asyncProperty(
          fc.array(fc.option(junk, { nil: undefined }), { maxLength: 3 }),
          async (args) => {
            await keyrootErrorOf(() => use(exported, isClass, args));
          },
        );
        await fc.assert(property, { numRuns: 200 });
      }
    });
  }
});
