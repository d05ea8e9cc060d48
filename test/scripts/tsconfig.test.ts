import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("tsconfig.json", () => {
  it("includes every TypeScript file, so that each is type-checked", () => {
    const { config } = ts.readConfigFile(`${ROOT}/tsconfig.json`, (path) => ts.sys.readFile(path)) as {
      config: unknown;
    };
    const { fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    const included = new Set(fileNames.map((name) => ts.sys.resolvePath(name)));
    const tracked = execFileSync("git", ["ls-files", "*.ts", "*.tsx"], { cwd: ROOT, encoding: "utf8" })
      .trim()
      .split("\n");
    expect(tracked.filter((name) => !included.has(ts.sys.resolvePath(`${ROOT}/${name}`)))).to.deep.equal([]);
    expect(tracked).to.include("packages/keyroot/src/index.ts");
  });
});
