import { expect } from "chai";
import { styleText, stripVTControlCharacters } from "node:util";
import { wrapLine } from "../../../packages/operator/src/commands/wrapLine.ts";

describe("a line that is wider than the terminal", () => {
  it("breaks between words, and continues beside its label", () => {
    const line = "  evidence   one endpoint's unproven answer at the latest block";
    expect(wrapLine(line, 40)).to.equal(
      "  evidence   one endpoint's unproven\n             answer at the latest block",
    );
  });

  it("continues at its indentation if the label is wide", () => {
    const hash = "a".repeat(64);
    expect(wrapLine(`  ${hash}  2 users in block 5`, 76)).to.equal(`  ${hash}  2 users\n    in block 5`);
  });

  it("keeps a long word whole, and counts no control sequences", () => {
    const word = "b".repeat(50);
    expect(wrapLine(`see ${word} there`, 40)).to.equal(`see\n${word}\nthere`);
    const green = styleText("green", "c".repeat(38), { validateStream: false });
    expect(wrapLine(green, 40)).to.equal(green);
    expect(stripVTControlCharacters(wrapLine(`${green} end`, 40))).to.equal(`${"c".repeat(38)}\nend`);
  });
});
