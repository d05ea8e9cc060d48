import { expect } from "chai";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..");

const SUBJECTS = ["partners", "users", "tokens", "keys", "publishing", "webhooks", "staff"];
const TABLES = SUBJECTS.map((subject) => `${subject}/tables.ts`);
const OPERATIONS = [...SUBJECTS, "auditLog"].map((subject) => `${subject}/operations.ts`);

/**
 * Layers of each package, upper layers first. A file imports only from its own layer and lower layers. A layer is a
 * path or a list of paths. The path `.` stands for the files outside the folders. A file has its own entry if its layer
 * differs from its folder's layer.
 */
const LAYERS: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  "packages/keyroot/src": [
    // The entries, and `createVerifier`, which loads `watch` on demand.
    ".",
    "internal",
    "watch",
    "verifier",
    "trust",
    "store",
    "registry",
    "merkle",
    "account",
    "identity",
    "ethereum",
    "transport",
    "bytes",
    "input",
    "engine",
    "errors.ts",
    "errorCodes.ts",
    "evidence.ts",
  ],
  "packages/client/src": [".", ["operator", "partner", "user"], "shared", "errors.ts", "errorCodes.ts"],
  "packages/operator/src": [
    ".",
    "hardhat",
    "commands",
    "explorer",
    // This entry of the package is for auditors. It also exports `watch`.
    "audit/index.ts",
    "watch",
    "audit",
    "publisher",
    "testing",
    "http",
    "threads",
    "disk",
    "checkOptions.ts",
    "plural.ts",
    "errors.ts",
  ],
  "packages/operator/src/publisher": [
    ".",
    "transactions",
    "safe",
    "confirm",
    "journal",
    "plan",
    "files",
    "finality",
    "signers",
    "records",
    "chain",
  ],
  "packages/service/src": [
    "index.ts",
    "commands",
    "stack",
    "startService.ts",
    "repeatedTasks.ts",
    "config",
    ["app/app.ts", "app/generateOpenApi.ts", "app/operations.ts"],
    "dashboard",
    // Operations of all subjects. They call the stores in the lower layers.
    [...OPERATIONS, "staff/passkeyChecks.ts", "staff/signInOperations.ts", "tokens/exchangeToken.ts"],
    "app",
    "webhooks",
    "staff",
    "publishing",
    "keys",
    "users",
    "partners",
    "rateLimits",
    "tokens",
    // Foreign keys connect the tables, so all tables are in one layer.
    ["auditLog", ...TABLES],
    "database",
    "cleanup.ts",
    "errors.ts",
  ],
  "packages/web/src": [
    ".",
    ["dashboard", "explorer"],
    ["dashboard/shared", "explorer/shared"],
    "explorer/worker",
    "shared",
  ],
};

/** Paths of a file's static imports, dynamic imports and re-exports, relative to `folder`. */
function importsOf(file: string, folder: string): string[] {
  const source = readFileSync(join(folder, file), "utf8");
  const paths = [...source.matchAll(/(?:\bfrom |\bimport |\bimport\()"(\.[^"]+)"/g)].map(([, path = ""]) => path);
  return paths.map((path) => relative(folder, join(folder, dirname(file), path)));
}

/** Circles of imports, each as a path of files. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) circles.push([...path.slice(start), file].join(" → "));
    if (start !== -1 || finished.has(file)) return;
    for (const imported of imports.get(file) ?? []) visit(imported, [...path, file]);
    finished.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return circles;
}

/** Import paths that leave a group of files and return to it. @param groupOf returns the file's group */
function findReturns(imports: ReadonlyMap<string, readonly string[]>, groupOf: (file: string) => string): string[] {
  const returns: string[] = [];
  for (const [start, imported] of imports) {
    const group = groupOf(start);
    const reached = new Set<string>();
    const visit = (path: readonly string[]): void => {
      const file = path.at(-1) ?? "";
      if (reached.has(file)) return;
      reached.add(file);
      if (groupOf(file) === group) returns.push([start, ...path].join(" → "));
      else for (const next of imports.get(file) ?? []) visit([...path, next]);
    };
    for (const file of imported) if (groupOf(file) !== group) visit([file]);
  }
  return returns;
}

for (const [path, layers] of Object.entries(LAYERS)) {
  describe(`folders of ${path}`, () => {
    const folder = join(ROOT, path);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
    const imports = new Map(files.map((file) => [file, importsOf(file, folder)]));
    const levelOf = new Map(layers.flatMap((layer, level) => [layer].flat().map((member) => [member, level])));

    /** The longest path in `layers` that contains the file. */
    const memberOf = (file: string) =>
      [...levelOf.keys()]
        .filter((member) => file === member || file.startsWith(`${member}/`))
        .reduce((longest, member) => (member.length > longest.length ? member : longest), ".");

    it("each belong to a layer", () => {
      const unassigned = files.filter((file) => memberOf(file) === "." && file.includes("/"));
      expect(unassigned).to.deep.equal([]);
      expect(new Set(files.map(memberOf))).to.deep.equal(new Set(levelOf.keys()));
    });

    it("import only from their own layer and lower layers", () => {
      const levelAt = (file: string) => levelOf.get(memberOf(file)) ?? NaN;
      const all = [...imports].flatMap(([file, paths]) =>
        paths.filter((imported) => !imported.startsWith("..")).map((imported) => ({ file, imported })),
      );
      const upward = all.filter(({ file, imported }) => levelAt(imported) < levelAt(file));
      expect(upward.map(({ file, imported }) => `${file} imports ${imported}`)).to.deep.equal([]);
      // This proves that `importsOf` finds imports.
      expect(all).to.have.length.above(files.length / 2);
    });

    it("contain no circle of imports", () => {
      expect(findCircles(imports)).to.deep.equal([]);
    });

    it("contain no import path that leaves a folder and returns to it", () => {
      // A file with its own layer is not in its folder's group.
      const groupOf = (file: string) => `${memberOf(file)}: ${dirname(file)}`;
      expect(findReturns(imports, groupOf)).to.deep.equal([]);
    });
  });
}

describe("import checks", () => {
  const imports = new Map([
    ["a/one.ts", ["a/two.ts", "b/three.ts"]],
    ["b/three.ts", ["c/four.ts"]],
    ["c/four.ts", ["a/two.ts"]],
    ["d/five.ts", ["d/six.ts"]],
    ["d/six.ts", ["d/five.ts"]],
  ]);

  it("find circles of imports and paths that return to a folder", () => {
    expect(findCircles(imports)).to.deep.equal(["d/five.ts → d/six.ts → d/five.ts"]);
    expect(findReturns(imports, dirname)).to.deep.equal(["a/one.ts → b/three.ts → c/four.ts → a/two.ts"]);
  });
});

describe("packages/keyroot/src/errors.ts", () => {
  it("imports only types and the list of error codes", () => {
    const importsOf = (name: string) =>
      readFileSync(join(ROOT, "packages/keyroot/src", name), "utf8").match(/^(?:import|export) .*from .*$/gm) ?? [];
    expect(importsOf("errors.ts")).to.have.length.above(0);
    for (const line of importsOf("errors.ts")) expect(line).to.match(/^(?:import|export) (?:type |.*errorCodes\.ts)/);
    expect(importsOf("errorCodes.ts")).to.deep.equal([]);
  });
});

describe("folders that people install or run", () => {
  it("import nothing from the test folder", () => {
    const files = globSync("{contracts,demo,ignition,packages,tasks}/**/*.{ts,tsx,mjs,js}", {
      cwd: ROOT,
      exclude: ["**/node_modules", "**/dist", "packages/operator/site"],
    });
    const found = files.flatMap((file) =>
      importsOf(file, ROOT)
        .filter((imported) => imported.startsWith("test/"))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(found).to.deep.equal([]);
    expect(files).to.include.members(["packages/web/src/explorer/main.tsx"]);
  });
});
