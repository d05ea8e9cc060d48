import { expect } from "chai";
import { blocksOf, printedBy, readPage } from "../support/pages.ts";

const blocks = blocksOf(await readPage("docs/key-types.md"), "js");

describe("docs/key-types.md", () => {
  it("has programs that print what the page says", async () => {
    const printed = await Promise.all(
      blocks.filter((code) => !/@hpke\/core|@keyroot\/client/.test(code)).map(printedBy),
    );
    expect(printed).to.deep.equal(["", "true\n", "32\n"]);
  });

  it("has one program that needs another package, and one that needs a service", () => {
    expect(blocks.filter((code) => code.includes("@hpke/core"))).to.have.length(1);
    // test/service/stack/keyTypes.test.ts registers such a key at a running service.
    expect(blocks.filter((code) => code.includes("@keyroot/client"))).to.have.length(1);
  });
});
