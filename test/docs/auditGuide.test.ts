import { expect } from "chai";
import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";
import { claimNames } from "../formal/prove.ts";
import { readPage } from "../support/pages.ts";

const require = createRequire(import.meta.url);
const guide = await readPage("docs/auditing.md");
const rules = guide.split(/^\*\*(?=\d+\. )/m).slice(1);

/** Quotes from the list items of one kind: line, test or claim. */
const quotes = (kind: string) =>
  [...guide.matchAll(new RegExp(`^- ${kind}: ["\`](.*)["\`]$`, "gm"))].map(([, quote]) => quote);

describe("docs/auditing.md", () => {
  it("quotes only existing lines of the contract and its base contracts", async () => {
    const libraries = ["Ownable2Step.sol", "Ownable.sol"].map((name) =>
      require.resolve(`@openzeppelin/contracts/access/${name}`),
    );
    const files = [readPage("contracts/PublicKeyRegistry.sol"), ...libraries.map((path) => readFile(path, "utf8"))];
    const lines = (await Promise.all(files)).flatMap((text) => text.split("\n").map((line) => line.trim()));
    expect(quotes("line")).not.to.be.empty;
    for (const line of quotes("line")) expect(lines).to.include(line);
  });

  it("quotes every contract statement that writes, reverts or emits", async () => {
    const contract = await readPage("contracts/PublicKeyRegistry.sol");
    const statements = contract.split("\n").map((line) => line.trim());
    const effects = statements.filter((line) =>
      /^(?!\/).*(_[a-z]\w*(\[\w+\])? \+?= |revert |emit |user\.\w+ = )/.test(line),
    );
    expect(effects).to.have.length(8);
    expect(quotes("line")).to.include.members(effects);
  });

  it("names only existing tests", async () => {
    const mocha = await readPage("test/contracts/PublicKeyRegistry.test.ts");
    const solidity = await readPage("test/solidity/PublicKeyRegistry.t.sol");
    expect(quotes("test")).not.to.be.empty;
    for (const name of quotes("test")) {
      expect(mocha.includes(`it("${name}"`) || solidity.includes(`function ${name}(`), name).to.equal(true);
    }
  });

  it("names exactly the claims of the formal proof", async () => {
    expect(quotes("claim").toSorted()).to.deep.equal((await claimNames()).toSorted());
  });

  it("quotes a line and a test for each rule", () => {
    expect(rules).to.have.length(13);
    for (const rule of rules)
      expect(rule)
        .to.match(/^- line: /m)
        .and.to.match(/^- test: /m);
  });

  it("names only existing files and commands", async () => {
    const { scripts } = JSON.parse(await readPage("package.json")) as { scripts: Record<string, string> };
    const paths = [...guide.matchAll(/`(?:node )?((?:bench|contracts|docs|scripts|test)\/[^` ]*)`/g)].map(
      ([, path]) => path,
    );
    expect(paths).to.include("scripts/mutation/mutateContract.ts");
    for (const path of paths) await access(join(ROOT, path ?? ""));
    const commands = [...guide.matchAll(/(?:`|^)npm (?:run )?([\w:]+)/gm)].map(([, name]) => name);
    expect(commands).to.include("audit:contract");
    for (const name of commands) expect(scripts).to.have.property(name ?? "");
  });
});
