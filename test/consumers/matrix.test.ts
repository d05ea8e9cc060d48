import { expect } from "chai";
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { bundle } from "../support/browser/bundle.ts";
import { openPage, type PageCode } from "../support/browser/openPage.ts";
import { describeIfNamed } from "../support/named.ts";
import { installPackages, packPackage, ROOT, run } from "../support/packages/installPackages.ts";
import { type PublishedKey, publishedKey } from "../support/packages/publishedKey.ts";
import type { Outcome } from "./app/check.ts";
import { APP, BROWSER_MAIN, BROWSER_PAGE, checkProgram, expectedOutcome, inputOf, MAIN } from "./programs.ts";
import { type ConsumerTools, installTools } from "./tools.ts";

/** Accepted findings of attw, with reasons. */
const ATTW_FINDINGS = {
  "NoResolution node10": "TypeScript's node10 resolution does not support `exports`. TypeScript 7 no longer has it.",
  "CJSResolvesToESM node16-cjs":
    "Every supported Node loads ES modules with require(). The tests with require() show it.",
};
const COMPILER_OPTIONS = {
  // TypeScript's own declarations are correct, and take most of the time.
  skipDefaultLibCheck: true,
  ...{ strict: true, skipLibCheck: false, target: "es2022", lib: ["es2020", "dom"], types: [], outDir: "out" },
  noEmitOnError: true,
};

describeIfNamed(import.meta.filename)("the packed library", () => {
  let tools: ConsumerTools;
  let key: PublishedKey;
  let app: string;
  let input: string;

  before("installs the consumers and the library, and publishes a key", async () => {
    [tools, key, app] = await Promise.all([installTools(), publishedKey(), installPackages("keyroot", "client")]);
    input = JSON.stringify(inputOf(key));
  });

  /** A folder of the app for one row, with these files. */
  async function folder(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    const path = join(app, name);
    await mkdir(path);
    for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text);
    return path;
  }

  const moduleFolder = async (name: string) =>
    folder(name, { "check.js": await checkProgram("esm"), "main.js": MAIN.esm });
  const commonJsFolder = async (name: string) =>
    folder(name, { "check.cjs": await checkProgram("cjs"), "main.cjs": MAIN.cjs });

  /** Runs a command in a row's folder, with the input as its last argument, and checks what it prints. */
  async function expectOutcome(cwd: string, command: string, ...args: string[]): Promise<void> {
    const { stdout, stderr } = await run(command, [...args, input], { cwd, env: { PATH: process.env["PATH"] } });
    expect(stderr).to.equal("");
    expect(JSON.parse(stdout)).to.deep.equal(expectedOutcome(key));
  }

  /** Opens bundled code in Chromium under a strict content security policy, and checks its outcome. */
  async function expectOutcomeInBrowser(code: PageCode): Promise<void> {
    const page = await openPage(code, [key.stack.rpcUrl, key.stack.merkleUrl]);
    try {
      await page.reload();
      const outcome: Outcome = await page.evaluate(`check(${input})`);
      expect(outcome).to.deep.equal(expectedOutcome(key));
    } finally {
      await page.close();
    }
  }

  describe("in the supported Node versions", () => {
    for (const major of [22, 26] as const) {
      const oldest = major === 22 ? "Node 22.13.0, the oldest supported" : "Node 26, the current version";

      it(`verifies a key after import in ${oldest}`, async function () {
        const node = tools.node[major];
        if (node === undefined) return this.skip(); // npm has no binary of this version for this platform.
        await expectOutcome(await moduleFolder(`node-${major}`), node, "main.js");
      });

      it(`verifies a key after require() in ${oldest}`, async function () {
        const node = tools.node[major];
        if (node === undefined) return this.skip(); // npm has no binary of this version for this platform.
        await expectOutcome(await commonJsFolder(`node-${major}-require`), node, "main.cjs");
      });
    }
  });

  describe("in other runtimes", () => {
    it("verifies a key after import in Bun", async () => {
      await expectOutcome(await moduleFolder("bun"), tools.bun, "--no-install", "main.js");
    });

    it("verifies a key after require() in Bun", async () => {
      await expectOutcome(await commonJsFolder("bun-require"), tools.bun, "--no-install", "main.cjs");
    });

    it("verifies a key after import in Deno", async function () {
      if (tools.deno === undefined) return this.skip(); // npm has Deno's binary only for some platforms.
      const permissions = ["--no-prompt", "--allow-net=127.0.0.1", "--node-modules-dir=manual", "--no-remote"];
      await expectOutcome(await moduleFolder("deno"), tools.deno, "run", ...permissions, "main.js");
    });
  });

  describe("in Chromium under a strict content security policy", () => {
    it("verifies a key in an app that Vite built", async () => {
      const files = { "check.js": await checkProgram("esm"), "main.js": BROWSER_MAIN, "index.html": BROWSER_PAGE };
      const root = await folder("vite", files);
      await run(process.execPath, [tools.vite, "build", "--logLevel", "error"], { cwd: root });
      const dist = join(root, "dist");
      const [, entry = ""] = /src="\/(assets\/[^"]+)"/.exec(await readFile(join(dist, "index.html"), "utf8")) ?? [];
      const chunks = new Map<string, Uint8Array>();
      for (const name of await readdir(join(dist, "assets"))) {
        chunks.set(`assets/${name}`, await readFile(join(dist, "assets", name)));
      }
      expect(chunks.size).to.be.greaterThan(1);
      await expectOutcomeInBrowser({ chunks, entry });
    });

    it("verifies a key in a single file that esbuild built", async () => {
      const cwd = await folder("esbuild", { "check.js": await checkProgram("esm") });
      const single = await bundle(BROWSER_MAIN, { splitting: false }, cwd);
      expect(single.chunks.size).to.equal(1);
      await expectOutcomeInBrowser(single);
    });
  });

  describe("in strict TypeScript apps", () => {
    const compilers = (): Record<string, string> => ({
      ...tools.typescript,
      "6.0": join(ROOT, "node_modules", "typescript", "bin", "tsc"),
    });

    /** Compiles the app with these options. Fails on any error, also in the library's declarations. */
    async function compile(version: string, name: string, options: object, extension = "ts"): Promise<string> {
      const path = await folder(name, {
        "tsconfig.json": JSON.stringify({ compilerOptions: { ...COMPILER_OPTIONS, ...options } }),
        "package.json": JSON.stringify({ type: "module" }),
      });
      for (const file of ["check", "types"]) {
        await copyFile(join(APP, `${file}.ts`), join(path, `${file}.${extension}`));
      }
      await run(process.execPath, [compilers()[version] ?? "", "--project", path]).catch((error: unknown) => {
        throw new Error(String((error as { stdout?: unknown }).stdout), { cause: error });
      });
      return path;
    }

    for (const version of ["5.0", "6.0", "7.0"]) {
      it(`compiles in TypeScript ${version} with module "nodenext"`, async () => {
        const path = await compile(version, `ts-${version}-nodenext`, { module: "nodenext" });
        await writeFile(join(path, "out", "main.js"), MAIN.esm);
        await expectOutcome(path, process.execPath, "out/main.js");
      });

      it(`compiles in TypeScript ${version} with module resolution "bundler"`, async () => {
        const options = { module: "esnext", moduleResolution: "bundler" };
        const path = await compile(version, `ts-${version}-bundler`, options);
        await writeFile(join(path, "out", "main.js"), MAIN.esm);
        const entryPoints = [join(path, "out", "main.js")];
        const outfile = join(path, "bundled.mjs");
        await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm" });
        await expectOutcome(path, process.execPath, basename(outfile));
      });
    }

    for (const version of ["6.0", "7.0"]) {
      it(`compiles for require() in TypeScript ${version} with module "nodenext"`, async () => {
        const path = await compile(version, `ts-${version}-require`, { module: "nodenext" }, "cts");
        await writeFile(join(path, "out", "main.cjs"), MAIN.cjs);
        await expectOutcome(path, process.execPath, "out/main.cjs");
      });
    }
  });

  it("has only the listed findings of the package checker attw", async () => {
    const tarball = await packPackage("keyroot");
    // Write the report to a file, because attw exits before a pipe has taken all of its output.
    const report = join(app, "attw.json");
    const file = await open(report, "w");
    const args = [tools.attw, tarball, "--format", "json"];
    const attw = spawn(process.execPath, args, { stdio: ["ignore", file.fd, "inherit"] });
    await once(attw, "close");
    await file.close();
    const { problems } = JSON.parse(await readFile(report, "utf8")) as {
      problems: Record<string, { kind: string; resolutionKind: string }[]>;
    };
    const found = Object.values(problems).flatMap((all) => all.map((one) => `${one.kind} ${one.resolutionKind}`));
    expect([...new Set(found)].sort()).to.deep.equal(Object.keys(ATTW_FINDINGS).sort());
  });
});
