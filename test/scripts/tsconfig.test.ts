import { expect } from "chai";
import { execFileSync } from "node:child_process";
import ts from "typescript";
import { readTsconfig } from "../../scripts/generate/exports.ts";
import { ROOT } from "../../scripts/test/root.ts";

describe("tsconfig.json", () => {
  it("includes every TypeScript file for the type check", () => {
    const included = new Set(readTsconfig().fileNames.map((name) => ts.sys.resolvePath(name)));
    const tracked = execFileSync("git", ["ls-files", "*.ts", "*.tsx"], { cwd: ROOT, encoding: "utf8" })
      .trim()
      .split("\n")
      // The example's own build checks its types, with React's, which the repository does not install.
      .filter((name) => !name.startsWith("examples/vite-react/"));
    expect(tracked.filter((name) => !included.has(ts.sys.resolvePath(`${ROOT}/${name}`)))).to.deep.equal([]);
    expect(tracked).to.include("packages/keyroot/src/index.ts");
  });
});
