import { expect } from "chai";
import { describeIfNamed } from "../support/named.ts";
import { type CodeBlock, isAsShown } from "../support/pages.ts";
import { newcomer } from "./newcomer.ts";

const TOURS = [
  "App developer: verify a key",
  "Operator: publish keys",
  "Auditor: check everything",
  "Partner back end: provision a user",
];

describeIfNamed(import.meta.filename)("quick starts, in an empty folder", () => {
  before("installs the packages, and starts a local system", async () => {
    await newcomer.start();
    await follow((newcomer.sections.get("Start a local system") ?? []).slice(3));
  });

  /** Writes the files and runs the commands of blocks. They must print the shown output. */
  async function follow(blocks: readonly CodeBlock[]): Promise<void> {
    let printed = "";
    for (const block of blocks) {
      if (block.language === "js") await newcomer.write(block);
      else if (block.language === "sh") printed = await newcomer.runOrFail(block.text);
      else if (block.language === "text")
        expect(isAsShown(printed, block.text), `${printed}\n${block.text}`).to.be.true;
      else throw new Error(`Blocks of ${block.language} cannot be run.`);
    }
  }

  const major = process.env["NEWCOMER_NODE"] ?? process.versions.node.split(".")[0];
  it(`run on Node ${major}`, async () => {
    expect(await newcomer.runOrFail("node --version")).to.match(new RegExp(`^v${major}\\.`));
  });

  it("contain only tours that this file tests, and the addresses that quickstartAddresses.test.ts tests", () => {
    const others = ["Start a local system", "Addresses and accounts"];
    expect(new Set(newcomer.sections.keys())).to.deep.equal(new Set([...others, ...TOURS]));
  });

  for (const tour of TOURS) {
    it(`print the output that the page shows: ${tour}`, async () => {
      const blocks = newcomer.sections.get(tour) ?? [];
      expect(blocks.map(({ language }) => language)).to.include.members(["sh"]);
      await follow(blocks);
    });
  }
});
