import { expect } from "chai";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/test/root.ts";
import { temporaryFolder } from "../support/support.ts";

const run = promisify(execFile);

interface Locked {
  dev?: true;
  link?: true;
}

const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
  packages: Record<string, Locked>;
};
/** The locked packages with their paths. */
const locked = Object.entries(lock.packages)
  .filter(([path]) => path.includes("node_modules/"))
  .map(([path, one]) => ({ path, ...one }));

/** The maximum size of the packages that `npm start` installs, in MiB. */
const MAX_SIZE = 700;

describe("scripts/bootstrap.mjs", () => {
  const folder = temporaryFolder();
  const installed = (name: string) => join(folder.path, "node_modules", name, "package.json");
  const bootstrap = (...args: string[]) =>
    run(process.execPath, ["scripts/bootstrap.mjs", ...args], { cwd: folder.path });
  let project: string;
  /** A package with the name of a binary of the simulated chain. */
  const CHAIN = "@nomicfoundation/edr-test";

  before("a project with a package for npm start, the simulated chain, and a package for development", async () => {
    project = await mkdtemp(join(tmpdir(), "keyroot-bootstrap-"));
    for (const [folder, name] of [
      ["started", "started"],
      ["chain", CHAIN],
      ["developed", "developed"],
    ] as const) {
      await mkdir(join(project, folder));
      await writeFile(join(project, folder, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
    }
    await run("npm", ["pack", "./started", "./chain", "./developed"], { cwd: project });
    const manifest = {
      engines: { node: ">=20.0.0" },
      dependencies: { started: "file:started-1.0.0.tgz", [CHAIN]: "file:nomicfoundation-edr-test-1.0.0.tgz" },
      devDependencies: { developed: "file:developed-1.0.0.tgz" },
      optionalDependencies: {},
      allowScripts: {},
    };
    await writeFile(join(project, "package.json"), JSON.stringify(manifest));
    await run("npm", ["install", "--package-lock-only"], { cwd: project });
    await cp(join(ROOT, "scripts/bootstrap.mjs"), join(project, "scripts/bootstrap.mjs"));
  });
  beforeEach(() => cp(project, folder.path, { recursive: true }));
  after(() => rm(project, { recursive: true }));

  it("installs only the packages for npm start with --omit=dev", async () => {
    await bootstrap("--omit=dev");
    const names = await readdir(join(folder.path, "node_modules"));
    expect(names.toSorted()).to.deep.equal([".package-lock.json", "@nomicfoundation", "started"]);
  });

  it("installs nothing at the second npm start, although npm's list contains a linked development package", async () => {
    await bootstrap("--omit=dev");
    const path = join(folder.path, "node_modules/.package-lock.json");
    const list = JSON.parse(await readFile(path, "utf8")) as { packages: object };
    await writeFile(path, JSON.stringify({ packages: { ...list.packages, "test/support/anvil": { dev: true } } }));
    expect((await bootstrap("--omit=dev")).stderr).to.equal("");
  });

  it("adds the other packages later, and does not change installed packages", async () => {
    await bootstrap("--omit=dev");
    const lock = await readFile(join(folder.path, "package-lock.json"));
    const { ino, ctimeMs } = await stat(installed("started"));
    await bootstrap();
    expect((await stat(installed("developed"))).isFile()).to.equal(true);
    expect(await stat(installed("started"))).to.include({ ino, ctimeMs });
    expect(await readFile(join(folder.path, "package-lock.json"))).to.deep.equal(lock);
  });

  it("adds the simulated chain, which npm omits on an older Node, and keeps the other packages", async () => {
    await bootstrap();
    await rm(join(folder.path, "node_modules/@nomicfoundation"), { recursive: true });
    const { ino } = await stat(installed("started"));
    expect((await bootstrap()).stderr).to.include("installing");
    expect((await stat(installed(CHAIN))).isFile()).to.equal(true);
    expect((await stat(installed("started"))).ino).to.equal(ino);
    expect((await bootstrap()).stderr).to.equal("");
  });

  it("installs all packages even if npm's configuration omits some", async () => {
    await writeFile(join(folder.path, ".npmrc"), "omit=dev\n");
    await bootstrap();
    expect((await stat(installed("developed"))).isFile()).to.equal(true);
  });

  it("skips installed packages", async () => {
    await bootstrap();
    const { stderr } = await bootstrap("--omit=dev");
    expect([stderr, (await bootstrap()).stderr]).to.deep.equal(["", ""]);
  });

  it("installs again after a change of the lock file", async () => {
    await bootstrap();
    const lock = join(folder.path, "package-lock.json");
    await writeFile(lock, await readFile(lock));
    expect((await bootstrap()).stderr).to.include("installing");
  });

  it("installs again if npm's list of installed packages is incomplete", async () => {
    await bootstrap();
    const list = join(folder.path, "node_modules/.package-lock.json");
    await writeFile(list, (await readFile(list)).subarray(0, 100));
    expect((await bootstrap()).stderr).to.include("installing");
    expect(JSON.parse(await readFile(list, "utf8"))).to.have.property("packages");
  });

  it("keeps development packages when npm start installs again", async () => {
    await bootstrap();
    const lock = join(folder.path, "package-lock.json");
    await writeFile(lock, await readFile(lock));
    expect((await bootstrap("--omit=dev")).stderr).to.include("installing");
    expect((await stat(installed("developed"))).isFile()).to.equal(true);
  });
});

describe("npm start", () => {
  const needed = locked.filter(({ dev }) => dev !== true);

  it(`installs at most ${MAX_SIZE} MiB`, async () => {
    const packages = needed.filter(({ link }) => link !== true);
    const sizes = await Promise.all(packages.map(({ path }) => sizeOf(join(ROOT, path))));
    const size = sizes.reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20;
    expect(size).to.be.within(250, MAX_SIZE);
  });

  it("installs every package that its code imports", () => {
    const patterns = ["packages/*/{src,build}/**/*.{ts,tsx}", "{tasks,demo}/*.ts", "hardhat.config.ts"];
    // The dashboard's examples are text for its readers.
    const exclude = (path: string) => path.endsWith("exampleCommands.ts");
    const texts = globSync(patterns, { cwd: ROOT, exclude }).map((source) => readFileSync(join(ROOT, source), "utf8"));
    const imports = /(?:^import|from|import\() ?"((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^"]*)?"/gm;
    const imported = texts.flatMap((text) => Array.from(text.matchAll(imports), ([, name = ""]) => name));
    expect(new Set(imported)).to.include("vite").and.include("keyroot");
    const installed = new Set(needed.map(({ path }) => path.slice(path.lastIndexOf("node_modules/") + 13)));
    expect(imported.filter((name) => !installed.has(name))).to.deep.equal([]);
  });
});

/**
 * Returns the size of a package on disk in bytes, without the packages in its `node_modules`. It is 0 if this platform
 * omits the package.
 */
async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const sizes = entries.map(async (entry) => {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? 0 : await sizeOf(inside);
    // Count blocks, as `du` does.
    return (await stat(inside)).blocks * 512;
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}
