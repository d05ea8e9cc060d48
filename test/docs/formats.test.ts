import { expect } from "chai";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";
import { printedBy, readPage } from "../support/pages.ts";

describe("docs/formats.md and docs/errors.md", () => {
  for (const page of ["formats.md", "errors.md"]) {
    it(`show the output of the first example in ${page}`, async () => {
      const text = await readPage(`docs/${page}`);
      const [, program = "", output] = /```js\n([^]*?)```\n\nThis prints (?:the root )?`([^`]+)`/.exec(text) ?? [];
      expect(await printedBy(program)).to.equal(`${output}\n`);
    });
  }

  it("state the number of test vectors", async () => {
    const names = (await readdir(join(ROOT, "test/vectors"))).filter((name) => name.endsWith(".json"));
    const sets = await Promise.all(names.map((name) => readPage(`test/vectors/${name}`)));
    const counts = sets.map((text) => (JSON.parse(text) as { vectors: unknown[] }).vectors.length);
    const total = counts.reduce((sum, count) => sum + count);
    expect(await readPage("docs/formats.md")).to.include(`the ${total} [test vectors]`);
    const rows = (await readPage("test/vectors/README.md")).matchAll(/^\| `(\S+\.json)`\s*\| (\d+)/gm);
    expect(Object.fromEntries(Array.from(rows, ([, name, count]) => [name, Number(count)]))).to.deep.equal(
      Object.fromEntries(names.map((name, i) => [name, counts[i]])),
    );
  });

  it("state the function selectors of the compiled contract", async () => {
    const { default: hre } = await import("hardhat");
    const { ethers } = await hre.network.create();
    const { interface: registry } = await ethers.getContractFactory("PublicKeyRegistry");
    const rows = [...(await readPage("docs/formats.md")).matchAll(/^\| `(\w+\(.*?\))`\s*\| `(\w{8})`/gm)];
    expect(rows).to.have.lengthOf(7);
    for (const [, signature = "", selector] of rows) {
      expect(registry.getFunction(signature)?.selector, signature).to.equal(`0x${selector}`);
    }
  });
});
