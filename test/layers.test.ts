import { expect } from "chai";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/**
 * The layers of each package, upper layers first. A file may import only from its own layer and lower ones. A layer is
 * a path or a list of paths, where `.` stands for the files outside the folders.
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
    "watch",
    "audit",
    "publisher",
    "testing",
    "follow",
    "rpc",
    "http",
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
    "signers",
    "records",
    "chain",
  ],
  // Only folders: no file of the service has a layer of its own.
  "packages/service/src": [
    ".",
    "commands",
    "stack",
    // The roofs: the process that answers HTTP requests, and the one that publishes. Neither imports the other.
    ["serve", "publisher"],
    "config",
    // The subjects.
    ["webhooks", "staff", "publishing", "accounts"],
    "keys",
    "tokens",
    "users",
    "partners",
    "auditLog",
    // The ground.
    "api",
    "api/limits",
    "api/database",
    "api/base",
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

describe("packages/service/src", () => {
  const folder = join(ROOT, "packages/service/src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const imports = new Map(files.map((file) => [file, importsOf(file, folder)]));

  it("has no two folders that import each other", () => {
    const arrows = new Set(
      [...imports].flatMap(([file, paths]) => paths.map((path) => `${dirname(file)} ${dirname(path)}`)),
    );
    const pairs = [...arrows].filter((arrow) => {
      const [from = "", to = ""] = arrow.split(" ");
      return from < to && arrows.has(`${to} ${from}`);
    });
    expect(pairs).to.deep.equal([]);
    expect(arrows.size).to.be.above(50);
  });

  it("has layers only for folders", () => {
    const members = LAYERS["packages/service/src"]?.flat() ?? [];
    expect(members.filter((member) => member.endsWith(".ts"))).to.deep.equal([]);
  });
});

/** The modules that `entry` loads when it is imported or runs, through all packages of this repository. */
function reachableFrom(entry: string): Set<string> {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    const source = readFileSync(join(ROOT, file), "utf8")
      // Types are erased, also those among values.
      .replaceAll(/^(?:import|export) type [^;]*;/gm, "");
    for (const [, specifier = ""] of source.matchAll(/(?:\bfrom |\bimport |\bimport\()"([^"]+)"/g)) {
      const path = specifier.startsWith(".") ? join(dirname(file), specifier) : fileOf(specifier);
      if (path !== undefined) visit(path);
    }
  };
  visit(entry);
  return reached;
}

/** The file of a subpath such as `keyroot/errors`. Undefined for packages that are not in this repository. */
function fileOf(specifier: string): string | undefined {
  const [, name = "", subpath = ""] = /^(@keyroot\/[a-z]+|keyroot)(\/.*)?$/.exec(specifier) ?? [];
  const folder = name === "@keyroot/contracts" ? "contracts" : `packages/${name.replace("@keyroot/", "")}`;
  if (name === "" || !existsSync(join(ROOT, folder, "package.json"))) return undefined;
  const { exports } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as {
    exports: Record<string, string | { default?: string }>;
  };
  const key = `.${subpath}`;
  // A pattern such as `./internal/*` stands for all its files.
  const [pattern = key] = key in exports ? [] : Object.keys(exports).filter((one) => matchesPattern(one, key));
  const target = exports[pattern];
  const path = typeof target === "string" ? target : target?.default;
  const file = path?.replace(
    "*",
    key.slice(pattern.indexOf("*"), key.length - (pattern.length - pattern.indexOf("*") - 1)),
  );
  return file?.endsWith(".ts") === true ? join(folder, file) : undefined;
}

function matchesPattern(pattern: string, key: string): boolean {
  const [start = "", end] = pattern.split("*");
  return end !== undefined && key.startsWith(start) && key.endsWith(end);
}

describe("the process that answers HTTP requests", () => {
  const isSigner = (file: string) => file.startsWith("packages/operator/src/publisher/signers/");

  it("can load no signer", () => {
    for (const entry of ["packages/service/src/serve/startService.ts", "packages/service/src/index.ts"]) {
      const reached = [...reachableFrom(entry)];
      expect(
        reached.filter((file) => isSigner(file) || file.startsWith("packages/service/src/publisher/")),
      ).to.deep.equal([]);
      // The service's subjects, and other packages.
      expect(reached).to.include.members([
        "packages/service/src/publishing/operations.ts",
        "packages/operator/src/shared.ts",
        "packages/keyroot/src/errors.ts",
      ]);
    }
  });

  it("differs from the publisher, which loads signers", () => {
    expect([...reachableFrom("packages/service/src/publisher/startPublisher.ts")].some(isSigner)).to.equal(true);
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
