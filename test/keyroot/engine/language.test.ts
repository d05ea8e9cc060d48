import { expect } from "chai";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { installPackages } from "../../support/packages/installPackages.ts";

/** Functions that some ES2020 engines or a plain JSContext do not have. */
const NEWER = [
  ...["Object.hasOwn", "Object.groupBy", "Map.groupBy", "Promise.withResolvers", "Promise.any", "Promise.try"],
  ...["AggregateError", "WeakRef", "FinalizationRegistry", "structuredClone", "queueMicrotask", "Array.fromAsync"],
  ...["AbortSignal.any", "AbortSignal.timeout", "URL.canParse", "crypto.randomUUID", "TextEncoder", "TextDecoder"],
  ...["atob", "btoa", "URLSearchParams", "Symbol.dispose", "Symbol.asyncDispose", "Error.isError"],
];
const METHODS = ["at", "findLast", "findLastIndex", "toSorted", "toReversed", "toSpliced", "with", "replaceAll"];
const NEWER_METHODS = [...METHODS, "isWellFormed", "toWellFormed", "throwIfAborted", "union"];
const WORDS = new RegExp(
  String.raw`(?<![\w.])(?:${NEWER.join("|").replaceAll(".", String.raw`\.`)})\b|\.(?:${NEWER_METHODS.join("|")})\(|/[^/\n]*\\p\{[^/\n]*/[a-z]*u`,
  "g",
);

/** Newer functions that some modules use, with a reason for each. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // engine/utf8.ts has its own decoder for engines without this class.
  "core.js": ["TextDecoder"],
  // @ethereumjs/rlp uses this class only for texts, and the library passes only bytes.
  "evidence.js": ["TextEncoder"],
  // It contains the code of the two modules above.
  "serviceWorker.js": ["TextDecoder", "TextEncoder"],
};
/** Modules that only Node runs. */
const NODE_ONLY = ["store/fileStore.js"];

describe("modules of the keyroot package", () => {
  it("use only ES2020 syntax and functions, except functions with a fallback", async () => {
    const dist = join(await installPackages("keyroot"), "node_modules/keyroot/dist");
    const modules = globSync("**/*.js", { cwd: dist }).filter((name) => !NODE_ONLY.includes(name));
    expect(modules).to.have.length.above(15);
    const found: Record<string, string[]> = {};
    for (const name of modules) {
      const source = await readFile(join(dist, name), "utf8");
      // Both outputs are without comments. They differ if the module contains syntax that is newer than ES2020.
      const [newest, es2020] = await Promise.all(
        ["esnext", "es2020"].map(async (target) => (await transform(source, { target, minifyWhitespace: true })).code),
      );
      expect(newest, `${name} has syntax newer than ES2020`).to.equal(es2020);
      const words = new Set([...(newest ?? "").matchAll(WORDS)].map(([word]) => word));
      if (words.size > 0) found[name] = [...words];
    }
    expect(found).to.deep.equal(EXCEPTIONS);
  });
});
