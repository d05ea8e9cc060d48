import { expect } from "chai";
import hre from "hardhat";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import ts from "typescript";

const { root } = hre.config.paths;

/** Returns the modules that a package exports. */
async function entriesOf(name: string): Promise<string[]> {
  const folder = join(root, "packages", name);
  const { exports } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  const paths = Object.values(exports).map((entry) => (typeof entry === "string" ? entry : entry.default));
  return paths.filter((path) => path.endsWith(".ts")).map((path) => join(folder, path));
}

describe("exports of keyroot and @keyroot/operator", () => {
  it("have a description in their doc comments", async () => {
    const entries = (await Promise.all(["keyroot", "operator"].map(entriesOf))).flat();
    const config = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
    const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
    // Other packages' types are not necessary for doc comments. A program without these types compiles much faster.
    const sources = globSync("packages/{keyroot,operator}/src/**/*.ts", { cwd: root }).map((path) => join(root, path));
    const program = ts.createProgram(sources, { ...options, noResolve: true, noLib: true, types: [] });
    const checker = program.getTypeChecker();
    const exported = entries.flatMap((path) => {
      const source = program.getSourceFile(path);
      const module = source && checker.getSymbolAtLocation(source);
      return module === undefined ? [] : checker.getExportsOfModule(module);
    });
    expect(exported).to.have.length.greaterThan(300);
    const undescribed = exported
      .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
      .filter((symbol) => symbol.getDocumentationComment(checker).length === 0)
      .map((symbol) => `${relative(root, symbol.declarations?.[0]?.getSourceFile().fileName ?? "")}: ${symbol.name}`);
    expect([...new Set(undescribed)].sort().join("\n")).to.equal("");
  });
});
