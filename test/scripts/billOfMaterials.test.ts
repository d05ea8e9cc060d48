import { expect } from "chai";
import { readFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { billOfMaterials } from "../../scripts/package/billOfMaterials.ts";
import { ROOT } from "../../scripts/test/root.ts";
import { temporaryFolder } from "../support/support.ts";

const MANIFESTS = [".", "contracts", ...["keyroot", "operator", "service", "web"].map((name) => `packages/${name}`)];

describe("the bill of materials", () => {
  const folder = temporaryFolder();

  // `git clone` names the folder after the repository, and npm names the root package after its folder.
  for (const clone of ["keyroot", "elsewhere"])
    describe(`in a clone named ${clone}`, () => {
      let root: string;
      const namesOf = (folder: string) => billOfMaterials(root, folder).components.map(({ name }) => name);

      beforeEach(async () => {
        root = join(folder.path, clone);
        for (const path of MANIFESTS) {
          await mkdir(join(root, path), { recursive: true });
          await cp(join(ROOT, path, "package.json"), join(root, path, "package.json"));
        }
        await cp(join(ROOT, "package-lock.json"), join(root, "package-lock.json"));
      });

      it("lists the packages in the library's modules", () => {
        const manifest = readFileSync(join(root, "packages/keyroot/package.json"), "utf8");
        const { devDependencies } = JSON.parse(manifest) as { devDependencies: Record<string, string> };
        const ofStablelib = ["binary", "hash", "int", "wipe"].map((name) => `@stablelib/${name}`);
        expect(namesOf("packages/keyroot").sort()).to.deep.equal(
          [...Object.keys(devDependencies), ...ofStablelib].sort(),
        );
      });

      it("lists the packages that npm installs with @keyroot/operator", () => {
        const { metadata, components, dependencies } = billOfMaterials(root, "packages/operator");
        expect(metadata.component.name).to.equal("@keyroot/operator");
        const names = components.map(({ name }) => name);
        expect(names).to.include.members(["keyroot", "@keyroot/contracts", "commander", "hash-wasm"]);
        expect(names).to.not.include.members(["keyroot-repository", "@keyroot/operator", "mocha", "typescript"]);
        const listed = new Set([metadata.component, ...components].map((one) => one["bom-ref"]));
        for (const { ref, dependsOn } of dependencies) expect([...listed]).to.include.members([ref, ...dependsOn]);
      });
    });

  it("comes from the project's npm, whatever npm the machine has", () => {
    const { metadata } = billOfMaterials(ROOT, "packages/keyroot");
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      devDependencies: Record<string, string>;
    };
    expect(metadata.tools).to.deep.equal([{ vendor: "npm", name: "cli", version: devDependencies["npm"] }]);
  });
});
