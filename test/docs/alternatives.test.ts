import { expect } from "chai";
import { readPage } from "../support/pages.ts";

const page = await readPage("docs/alternatives.md");

/** Cells of the page's tables by table and row, without the header rows. */
function tables(): string[][][] {
  const blocks = page.match(/(?:^\|.*\n)+/gm) ?? [];
  const cellsOf = (row: string) => row.split("|").slice(1, -1);
  return blocks.map((block) =>
    block
      .trimEnd()
      .split("\n")
      .slice(2)
      .map((row) => cellsOf(row).map((cell) => cell.trim())),
  );
}

describe("docs/alternatives.md", () => {
  const [cases = [], properties = []] = tables();

  it("cites a source for each recommended system", () => {
    const ownWords = /^(?:Compare fingerprints|A directory of your own)/;
    const systems = cases.map(([, system = ""]) => system).filter((system) => !ownWords.test(system));
    expect(systems).to.have.length.above(8);
    for (const system of systems) expect(system).to.match(/\]\[\w+\]/);
  });

  it("cites a source for each statement about another system", () => {
    expect(properties).to.have.length.above(3);
    for (const [property = "", , ...others] of properties) {
      for (const cell of others) if (cell !== "—" && cell !== "the site") expect(cell, property).to.match(/\]\[\w+\]/);
    }
  });

  it("defines only sources that its text cites", () => {
    const named = new Set(Array.from(page.matchAll(/\]\[(\w+)\]/g), ([, name]) => name));
    const defined = Array.from(page.matchAll(/^\[(\w+)\]: https:\/\/\S+$/gm), ([, name]) => name);
    expect(defined).to.have.members([...named]);
  });
});
