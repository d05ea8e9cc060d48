import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as serviceWorker from "../../packages/keyroot/src/serviceWorker.ts";
import { JEST } from "../consumers/frameworkFiles.ts";
import { ROOT } from "../support/packages/installPackages.ts";

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

describe("docs/platforms.md", () => {
  let page: string;
  let versions: ReadonlyMap<string, string>;

  before(async () => {
    page = await readFile(join(ROOT, "docs/platforms.md"), "utf8");
    const text = await readFile(join(ROOT, "test/consumers/package.json"), "utf8");
    const { dependencies, optionalDependencies } = JSON.parse(text) as Manifest;
    const all = Object.entries({ ...dependencies, ...optionalDependencies });
    versions = new Map(all.map(([name, version]) => [name, version.replace(/^.*@/, "")]));
  });

  it("names the versions that the consumers' tests install", () => {
    for (const name of ["bun", "jest", "next", "vite", "webpack", "workerd"])
      expect(page).to.include(`${name} ${versions.get(name)}`);
    expect(page).to.include(`deno ${versions.get("@deno/linux-x64-glibc")}`);
    for (const name of ["node-22-linux-x64", "node-26-linux-x64", "typescript-5.0", "typescript-7.0"])
      expect(page).to.match(new RegExp(`\\b${versions.get(name)?.replaceAll(".", "\\.")}\\b`));
  });

  it("shows imports that keyroot/service-worker has", () => {
    const [, names = ""] = /import \{([^}]*)\} from "keyroot\/service-worker"/.exec(page) ?? [];
    expect(serviceWorker).to.include.keys(names.split(",").map((name) => name.trim()));
  });

  it("shows Jest's environment and patterns as tested", () => {
    const [, block = ""] = /```js\n(\/\/ environment[^]*?)```/.exec(page) ?? [];
    const files = Object.values(JEST).join("\n");
    const lines = block.split("\n").filter((line) => /Object\.assign|transformIgnorePatterns/.test(line));
    expect(lines).to.have.lengthOf(2);
    for (const line of lines) {
      const [, part = ""] = /(Object\.assign.*;|transformIgnorePatterns: \[[^\]]*\])/.exec(line) ?? [];
      expect(files).to.include(part);
    }
  });
});
