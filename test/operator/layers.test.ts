import { expect } from "chai";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/**
 * Folders, the upper first: each imports from itself and from the ones after it. `.` has the files beside the folders. A file that
 * is not in the layer of its folder is listed by its name.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  "packages/keyroot/src": [
    ".",
    // What an app calls. It loads `watch` on demand, which itself uses the rest of `verifier`.
    "verifier/createVerifier.ts",
    "watch",
    "verifier",
    "client/admin",
    "client/partner",
    "client/user",
    "client",
    "store",
    "registry",
    "merkle",
    "identity",
    "ethereum",
    "transport",
    "bytes",
    "input",
    "errors.ts",
    "evidence.ts",
  ],
  "packages/operator/src": [
    ".",
    "hardhat",
    "commands",
    "explorer",
    "stack",
    "service",
    "audit",
    "publisher",
    "site",
    "transport",
    "threads",
    "disk",
    "resources",
    "input",
    "text",
  ],
  "packages/operator/src/publisher": [
    ".",
    "transactions",
    "safe",
    "proof",
    "journal",
    "plan",
    "files",
    "finality",
    "signers",
    "records",
    "chain",
  ],
  // In the order in which a request passes them, as packages/operator/src/service/index.ts describes.
  "packages/operator/src/service": [
    ".",
    "dashboard",
    "routes",
    "http",
    "publishing",
    "registration",
    "webhooks",
    "store",
    "tokens",
  ],
};

/** The paths that a file imports, relative to `folder`: static and dynamic imports, and exports from other files. */
function importsOf(file: string, folder: string): string[] {
  const source = readFileSync(join(folder, file), "utf8");
  const paths = [...source.matchAll(/(?:\bfrom |\bimport |\bimport\()"(\.[^"]+)"/g)].map(([, path = ""]) => path);
  return paths.map((path) => relative(folder, join(folder, dirname(file), path)));
}

for (const [path, layers] of Object.entries(LAYERS)) {
  describe(`the folders of ${path}`, () => {
    const folder = join(ROOT, path);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

    /** The most specific layer. */
    const layerOf = (file: string) =>
      layers
        .filter((layer) => file === layer || file.startsWith(`${layer}/`))
        .reduce((longest, layer) => (layer.length > longest.length ? layer : longest), ".");

    it("are all in a layer", () => {
      const unassigned = files.filter((file) => layerOf(file) === "." && file.includes("/"));
      expect(unassigned).to.deep.equal([]);
      expect(new Set(files.map(layerOf))).to.deep.equal(new Set(layers));
    });

    it("import from themselves and from later folders only", () => {
      const imports = files.flatMap((file) =>
        importsOf(file, folder)
          .filter((imported) => !imported.startsWith(".."))
          .map((imported) => ({ file, imported })),
      );
      const upward = imports.filter(
        ({ file, imported }) => layers.indexOf(layerOf(imported)) < layers.indexOf(layerOf(file)),
      );
      expect(upward.map(({ file, imported }) => `${file} imports ${imported}`)).to.deep.equal([]);
      // The pattern above finds imports at all.
      expect(imports).to.have.length.above(files.length / 2);
    });
  });
}

describe("errors.ts of keyroot", () => {
  it("imports only types, so that every file can use it", () => {
    const source = readFileSync(join(ROOT, "packages/keyroot/src/errors.ts"), "utf8");
    const imports = source.match(/^(?:import|export) .*from .*$/gm) ?? [];
    expect(imports).to.have.length.above(0);
    for (const line of imports) expect(line).to.match(/^(?:import|export) type /);
  });
});

describe("the folders outside of test", () => {
  it("import nothing from test", () => {
    const files = globSync("{bench,contracts,demo,fixtures,ignition,packages,scripts,tasks}/**/*.{ts,tsx,mjs,js}", {
      cwd: ROOT,
      exclude: ["**/node_modules", "**/dist", "packages/operator/site"],
    });
    const found = files.flatMap((file) =>
      importsOf(file, ROOT)
        .filter((imported) => imported.startsWith("test/"))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(found).to.deep.equal([]);
    expect(files).to.include.members(["bench/run.ts", "fixtures/ports.ts", "packages/web/src/explorer/main.tsx"]);
  });
});
