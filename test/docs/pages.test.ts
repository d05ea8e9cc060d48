import { expect } from "chai";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";
import { optionName } from "../../packages/operator/src/commands/defineCommand.ts";
import { allCommands } from "../../scripts/generate/allCommands.ts";
import { headingsOf } from "../support/packages/markdown.ts";
import { readPage } from "../support/pages.ts";

const PAGES = globSync(["*.md", "docs/*.md", "packages/*/README.md", "examples/**/README.md", "contracts/README.md"], {
  cwd: ROOT,
  exclude: (path) => path.includes("node_modules"),
}).toSorted();
const MAX_WORDS = 1_800;
const MAX_PAGES = 34;
/** Pages without a word limit: generated pages and the changelog. */
const UNLIMITED = ["docs/benchmarks.md", "docs/commands.md", "CHANGELOG.md"];
/** Pages with reference tables. The word limit excludes table rows, because readers only search them. */
const TABLES = ["docs/auditing.md", "docs/errors.md", "docs/formats.md", "docs/monitoring.md"];

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

describe("pages", () => {
  it(`have at most ${MAX_WORDS} words unless they are generated`, async () => {
    for (const path of PAGES.filter((path) => !UNLIMITED.includes(path))) {
      const text = await readPage(path);
      const counted = TABLES.includes(path) ? text.replaceAll(/^\|.*$/gm, "") : text;
      expect(wordsIn(counted), path).to.be.at.most(MAX_WORDS);
    }
  });

  it(`are at most ${MAX_PAGES} in docs, so that each subject has one`, () => {
    expect(PAGES.filter((path) => path.startsWith("docs/"))).to.have.lengthOf.at.most(MAX_PAGES);
  });

  it("link to existing files and headings", async () => {
    for (const path of PAGES) {
      for (const [, link = ""] of (await readPage(path)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [target = "", heading] = link.split("#");
        const file = target === "" ? path : join(dirname(path), target);
        expect(existsSync(join(ROOT, file)), `${path}: ${link}`).to.equal(true);
        if (heading !== undefined) expect(headingsOf(await readPage(file)), `${path}: ${link}`).to.include(heading);
      }
    }
  });

  it("include each specification section that a source comment names", async () => {
    const specification = await readPage("docs/specification.md");
    for (const path of globSync("packages/*/src/**/*.ts", { cwd: ROOT }))
      for (const [, section = ""] of (await readPage(path)).matchAll(/docs\/specification\.md, "([^"]+)"/g))
        expect(specification, path).to.include(`"${section.replace(/\s+\* /g, " ")}"`);
  });

  it("name only existing npm scripts and test files", async () => {
    const { scripts } = JSON.parse(await readPage("package.json")) as { scripts: Record<string, string> };
    for (const path of PAGES.filter((path) => path.startsWith("docs/") || !path.includes("/"))) {
      if (path === "CHANGELOG.md") continue;
      const text = await readPage(path);
      for (const [, name = ""] of text.matchAll(/npm run (?:--silent )?([\w:]+)/g))
        expect(scripts, path).to.have.property(name);
      for (const [file] of text.matchAll(/\btest\/[\w/.-]+\.(?:test\.ts|t\.sol)\b/g))
        expect(existsSync(join(ROOT, file)), `${path}: ${file}`).to.equal(true);
    }
  });

  it("show only existing commands and options", async () => {
    const commands = await allCommands();
    for (const path of PAGES.filter((path) => !/CHANGELOG|upgrading/.test(path))) {
      const text = (await readPage(path)).replaceAll("\\\n", " ");
      for (const [use, name = "", rest = ""] of text.matchAll(
        /(?:\.bin\/|npx |npx hardhat |`)keyroot ([a-z][a-z-]+)([^\n`]*)/g,
      )) {
        const command = commands[name];
        expect(command, `${path}: ${use}`).to.be.an("object");
        const known = [...Object.keys(command?.options ?? {}).map(optionName), "--help", "--json", "--network"];
        for (const option of rest.match(/(?<=\s)--[a-z-]+/g) ?? []) expect(known, `${path}: ${use}`).to.include(option);
      }
    }
  });
});
