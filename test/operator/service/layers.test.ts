import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SERVICE = join(import.meta.dirname, "../../../packages/operator/src/service");
/** The folders in the order in which a request passes them, as packages/operator/src/service/index.ts describes. */
const ORDER = [".", "dashboard", "routes", "http", "publishing", "registration", "webhooks", "store", "tokens"];

/** The imports of one file from within the service: the imported folder, relative to the service. */
function importedFolders(file: string): string[] {
  const source = readFileSync(join(SERVICE, file), "utf8");
  return [...source.matchAll(/from "(\.[^"]+)"/g)].flatMap(([, path = ""]) => {
    const folder = relative(SERVICE, dirname(join(SERVICE, dirname(file), path))) || ".";
    return folder.startsWith("..") ? [] : [folder];
  });
}

describe("the service's folders", () => {
  const files = readdirSync(SERVICE, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

  it("contain every file", () => {
    expect(new Set(files.map((file) => dirname(file)))).to.deep.equal(new Set(ORDER));
  });

  it("import from themselves and from later folders only, so that no request returns to an earlier one", () => {
    const upward = files.flatMap((file) =>
      importedFolders(file)
        .filter((folder) => ORDER.indexOf(folder) < ORDER.indexOf(dirname(file)))
        .map((folder) => `${file} imports from ${folder}`),
    );
    expect(upward).to.deep.equal([]);
    expect(files.flatMap(importedFolders)).to.include.members(ORDER);
  });
});
