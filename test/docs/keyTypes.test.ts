import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/key-types.md"), "utf8");

/** The blocks of the page, without the indentation of lists. */
const blocks = [...PAGE.matchAll(/^( *)```js\n([^]*?)^ *```/gm)].map(([, indent = "", code = ""]) =>
  code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
);
const run = (code: string) =>
  execFileSync(process.execPath, ["--input-type=module", "--eval", code], { cwd: ROOT, encoding: "utf8" });

describe("docs/key-types.md", () => {
  it("has programs that print what the page says", () => {
    const printed = blocks.filter((code) => !/@hpke\/core|@keyroot\/client/.test(code)).map(run);
    expect(printed).to.deep.equal(["", "true\n", "32\n"]);
  });

  it("has one program that needs another package, and one that needs a service", () => {
    expect(blocks.filter((code) => code.includes("@hpke/core"))).to.have.length(1);
    // test/service/stack/keyTypes.test.ts registers such a key at a running service.
    expect(blocks.filter((code) => code.includes("@keyroot/client"))).to.have.length(1);
  });
});
