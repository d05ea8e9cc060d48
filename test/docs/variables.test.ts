import { expect } from "chai";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";
import { readConfig } from "../../packages/service/src/config/readConfig.ts";
import { KNOWN_VARIABLES } from "../../packages/operator/src/commands/checkVariables.ts";
import { PUBLISHER_VARIABLES, SERVICE_VARIABLES } from "../../packages/service/src/config/variables.ts";
import { blocksOf, readPage, variablesIn } from "../support/pages.ts";

const VARIABLE = /\b(?:DATABASE_URL(?:_[A-Z0-9]+)*|KEYROOT(?:_[A-Z0-9]+)+)(?![A-Z0-9_*…])/g;
/** Variables that only this repository or its examples read. */
const OF_REPOSITORY = ["KEYROOT_OWNER_KEY"];
const page = await readPage("docs/variables.md");
const listed = Array.from(page.matchAll(/^\| (`[^|]+)\|/gm), ([, cell = ""]) => cell.match(VARIABLE) ?? []).flat();

describe("docs/variables.md", () => {
  it("lists each variable that a package reads", () => {
    const sources = globSync("packages/{operator,service}/src/**/*.ts", { cwd: ROOT });
    const read = new Set(sources.flatMap((path) => readFileSync(join(ROOT, path), "utf8").match(VARIABLE) ?? []));
    expect([...read]).to.include.members(Object.values({ ...SERVICE_VARIABLES, ...PUBLISHER_VARIABLES }));
    expect([...listed].sort()).to.deep.equal([...read].filter((name) => !OF_REPOSITORY.includes(name)).sort());
  });

  it("lists exactly the variables that commands accept", () => {
    const known = listed.filter((name) => name.startsWith("KEYROOT_"));
    expect(KNOWN_VARIABLES.filter((name) => !OF_REPOSITORY.includes(name))).to.deep.equal(known.sort());
  });

  it("lists each variable that other pages name", async () => {
    const pages = globSync(["docs/*.md", "README.md", "packages/*/README.md", "examples/*/README.md"], {
      cwd: ROOT,
    });
    for (const path of pages.filter((path) => !path.includes("upgrading"))) {
      const named = (await readPage(path)).match(VARIABLE) ?? [];
      for (const name of named) expect([...listed, ...OF_REPOSITORY], path).to.include(name);
    }
  });

  it("starts with a valid configuration", () => {
    const [example = ""] = blocksOf(page, "sh");
    expect(readConfig(variablesIn(example))).to.include({ serviceUrl: "https://keys.example.com" });
  });
});
