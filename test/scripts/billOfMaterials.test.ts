import { expect } from "chai";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { billOfMaterials } from "../../scripts/package/billOfMaterials.ts";
import { ROOT } from "../../scripts/test/root.ts";

describe("the bill of materials", () => {
  const namesOf = (folder: string) => billOfMaterials(ROOT, folder).components.map(({ name }) => name);

  it("lists the packages in the library's modules", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "packages/keyroot/package.json"), "utf8")) as {
      devDependencies: Record<string, string>;
    };
    expect(namesOf("packages/keyroot").sort()).to.deep.equal(Object.keys(devDependencies).sort());
  });

  it("lists the packages that npm installs with @keyroot/operator", () => {
    const { metadata, components, dependencies } = billOfMaterials(ROOT, "packages/operator");
    expect(metadata.component.name).to.equal("@keyroot/operator");
    const names = components.map(({ name }) => name);
    expect(names).to.include.members(["keyroot", "@keyroot/contracts", "commander", "hash-wasm"]);
    expect(names).to.not.include.members(["keyroot-repository", "@keyroot/operator", "mocha", "typescript"]);
    const listed = new Set([metadata.component, ...components].map((one) => one["bom-ref"]));
    for (const { ref, dependsOn } of dependencies) expect([...listed]).to.include.members([ref, ...dependsOn]);
  });
});
