import { expect } from "chai";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { installPackages } from "../../support/packages/installPackages.ts";

/** The functions that are missing in some engines with ES2020 and a plain JSContext. */
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

/** The newer functions that are used nevertheless. A comment states the reason for each. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // If this decoder is missing, engine/utf8.ts uses its own.
  "core.js": ["TextDecoder"],
  // @ethereumjs/rlp uses this class for texts. The library passes only bytes.
  "evidence.js": ["TextEncoder"],
};
/** The modules that only Node runs. */
const NODE_ONLY = ["partner.js", "p-map.js", "store/fileStore.js"];

describe("modules of the package keyroot", () => {
  it("use only ES2020 syntax and functions, or a fallback", async () => {
    const dist = join(await installPackages("keyroot"), "node_modules/keyroot/dist");
    const modules = globSync("**/*.js", { cwd: dist }).filter((name) => !NODE_ONLY.includes(name));
    expect(modules).to.have.length.above(15);
    const found: Record<string, string[]> = {};
    for (const name of modules) {
      const source = await readFile(join(dist, name), "utf8");
      // Comments are removed. Newer syntax would be compiled to ES2020, so the two outputs would differ.
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
