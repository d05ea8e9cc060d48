import { expect } from "chai";
import { access, cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { checkProgram, expectedOutcome, inputOf, MAIN } from "../consumers/programs.ts";
import { type Bundle, bundle } from "../support/browser/bundle.ts";
import { installPackages, ROOT, run } from "../support/packages/installPackages.ts";
import { headingsOf, linksIn } from "../support/packages/markdown.ts";
import { type PublishedKey, publishedKey } from "../support/packages/publishedKey.ts";
import { failure, never } from "../support/support.ts";

/** The program in README.md reads the user and the key from this file. */
const USERS_FILE = "users.jsonl";
const REPOSITORY = "https://github.com/keyroot/keyroot";

interface Manifest {
  name: string;
  dependencies?: object;
  engines: { node: string };
  exports: Record<string, string | { types: string; default: string }>;
  repository: { url: string };
  homepage: string;
  bugs: string;
}

const read = (...path: string[]) => readFile(join(...path), "utf8");

/** Returns the first program on a page, with the addresses of a real stack instead of the example addresses. */
async function pageProgram(page: string, { stack, record }: PublishedKey, keyFromServer: string): Promise<string> {
  const [, sample = ""] = /```js\n([^]*?)```/.exec(await read(ROOT, page)) ?? [];
  const addresses = { rpc: stack.rpcUrl, merkleUrl: stack.merkleUrl, contract: stack.contract };
  let program = sample;
  for (const [name, address] of Object.entries(addresses)) {
    const assigned = new RegExp(`(\\b${name}\\s*[:=]\\s*)"[^"]*"`);
    expect(program, page).to.match(assigned);
    program = program.replace(assigned, `$1"${address}"`);
  }
  program = program.replace("http://127.0.0.1:8549", stack.beaconUrl ?? never());
  // If a program reads the user and the key from a file, it declares both itself.
  const declared = `const userID = "${record.userID}", expectedPublicKey = "${keyFromServer}";`;
  return `${program.includes(USERS_FILE) ? "" : declared}
${program}
console.log(Buffer.from(publicKey).toString("base64"));
`;
}

describe("the keyroot package", () => {
  let key: PublishedKey;
  let app: string;
  let installed: string;
  let manifest: Manifest;
  let files: string[];

  before("is packed and installed in an empty folder, next to a stack with one user", async () => {
    key = await publishedKey();
    app = await installPackages("keyroot", "client");
    installed = join(app, "node_modules", "keyroot");
    manifest = JSON.parse(await read(installed, "package.json")) as Manifest;
    const entries = await readdir(installed, { recursive: true, withFileTypes: true });
    files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(installed.length + 1));
  });

  /** Runs a program in the app and returns what it prints. */
  async function node(name: string, program: string, ...args: string[]): Promise<string> {
    await writeFile(join(app, name), program);
    return (await run(process.execPath, [...args.slice(0, -1), name, ...args.slice(-1)], { cwd: app })).stdout;
  }

  /** Writes the file with a user with this public key, for the program in README.md. */
  const writeUser = (pubKey: string) =>
    writeFile(join(app, USERS_FILE), `${JSON.stringify({ ...key.record, pubKey })}\n`);

  describe("after installation", () => {
    for (const page of ["README.md", "packages/keyroot/README.md"]) {
      it(`verifies a key with the program in ${page}`, async () => {
        const program = await pageProgram(page, key, key.record.pubKey);
        await writeUser(key.record.pubKey);
        expect((await node("verify.js", program)).trim().split("\n").at(-1)).to.equal(key.record.pubKey);
      });

      it(`rejects a swapped key with the program in ${page}`, async () => {
        const program = await pageProgram(page, key, key.swapped);
        await writeUser(key.swapped);
        const error = await failure(node("swapped.js", program));
        expect(error).to.have.property("code", 1);
        expect(error).to.have.property("stdout", "");
        expect(error).to.have.property("stderr").that.includes("code: 'KEY_MISMATCH'");
      });
    }

    it("verifies a key online and from a bundle", async () => {
      await writeFile(join(app, "check.js"), await checkProgram("esm"));
      const output = await node("main.js", MAIN.esm, JSON.stringify(inputOf(key)));
      expect(JSON.parse(output)).to.deep.equal(expectedOutcome(key));
    });

    it("loads every entry", async () => {
      const entries = Object.keys(manifest.exports).filter((subpath) => !/\.json$|\*/.test(subpath));
      const program = entries.map((subpath) => `await import("${join("keyroot", subpath)}");\n`).join("");
      expect(entries).to.include.members([
        ".",
        "./auditors",
        "./bundle",
        "./light-client",
        "./merkle",
        "./records",
        "./safety-code",
        "./store/file",
      ]);
      await node("entries.js", program);
    });

    it("has entries for its JSON schemas", async () => {
      const program = `import proof from "keyroot/schemas/proof.json" with { type: "json" };
import bundle from "keyroot/schemas/bundle.json" with { type: "json" };
console.log(proof.title, bundle.title);
`;
      expect(await node("schemas.js", program)).to.match(/proof.* bundle/i);
    });

    it("has types for strict TypeScript programs", async () => {
      await cp(join(ROOT, "test", "consumers", "app", "types.ts"), join(app, "types.ts"));
      const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
      const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--lib", "es2024,dom"];
      await run(process.execPath, [tsc, ...options, "types.ts"], { cwd: app });
    });

    it("shows lines of its source code in stack traces", async () => {
      const program = await pageProgram("README.md", key, key.swapped);
      await writeUser(key.swapped);
      await writeFile(join(app, "traced.js"), program);
      const error = await failure(run(process.execPath, ["--enable-source-maps", "traced.js"], { cwd: app }));
      const [, line = ""] =
        /keyroot\/src\/identity\/compareKey\.ts:(\d+)/.exec((error as { stderr: string }).stderr) ?? [];
      const source = await read(ROOT, "packages", "keyroot", "src", "identity", "compareKey.ts");
      expect(source.split("\n")[Number(line) - 1]).to.include('"KEY_MISMATCH"');
    });

    it("provides @keyroot/client/partner only outside browsers", async () => {
      const bundled = bundle('export { PartnerClient } from "@keyroot/client/partner";', { logLevel: "silent" }, app);
      expect(await failure(bundled))
        .to.have.nested.property("errors[0].text")
        .that.includes('Could not resolve "@keyroot/client/partner"');
    });
  });

  describe("in an app for browsers", () => {
    const EVERYTHING = `export { createVerifier, oneEndpoint } from "keyroot";
export { verifyBundle } from "keyroot/bundle";
export { verifyMerkleProof } from "keyroot/merkle";
`;
    /** Returns the size of chunks after gzip, in bytes. */
    const sizeOf = (chunks: readonly (Uint8Array | undefined)[]) =>
      chunks.reduce((sum, chunk = new Uint8Array()) => sum + gzipSync(chunk).length, 0);
    /** Returns the sizes in the "Size" section of README.md, in bytes. */
    const statedSizes = async () => {
      const [, section = ""] = /^## Size\n([^]*?)^## /m.exec(await read(installed, "README.md")) ?? [];
      return [...section.matchAll(/([\d.]+)\s+kB/g)].map(([, kB]) => Number(kB) * 1000);
    };

    it("adds at most 15 kB for a basic verification", async () => {
      const { chunks, initial } = await bundle('export { createVerifier, oneEndpoint } from "keyroot";', {}, app);
      const size = sizeOf(initial.map((name) => chunks.get(name)));
      const [stated = NaN] = await statedSizes();
      expect(stated).to.be.at.most(15_000);
      expect(size).to.be.within(stated - 2000, stated);
    });

    it("adds at most 4.8 kB for a watch", async () => {
      const { chunks, chunksWith, initial } = await bundle('export { createVerifier } from "keyroot";', {}, app);
      const watch = chunksWith("dist/watch");
      const size = sizeOf(watch.map((name) => chunks.get(name)));
      const [, stated = NaN] = await statedSizes();
      expect(watch).to.have.lengthOf(1);
      expect(initial).to.not.include.members(watch);
      expect(stated).to.be.at.most(4800);
      expect(size).to.be.within(stated - 1000, stated);
    });

    it("adds at most 40.4 kB in a single file with all proofs", async () => {
      const { chunks } = await bundle(EVERYTHING, { splitting: false }, app);
      const { [2]: stated = NaN } = await statedSizes();
      expect([...chunks.keys()]).to.have.lengthOf(1);
      expect(stated).to.be.at.most(40_400);
      expect(sizeOf([...chunks.values()])).to.be.within(stated - 2000, stated);
    });

    it("adds at most 33.5 kB for the light client", async () => {
      const verifier = 'export { createVerifier } from "keyroot";';
      const without = await bundle(verifier, {}, app);
      const { chunks, chunksWith, initial } = await bundle(
        `export { lightClient } from "keyroot/light-client";${verifier}`,
        {},
        app,
      );
      const loaded = chunksWith("dist/lightClient");
      expect(loaded).to.not.be.empty;
      expect(initial).to.not.include.members(loaded);
      const sizeAtStart = sizeOf(initial.map((name) => chunks.get(name)));
      const added = sizeAtStart - sizeOf(without.initial.map((name) => without.chunks.get(name)));
      expect(added).to.be.within(500, 3500);
      expect(sizeOf(loaded.map((name) => chunks.get(name))) + added).to.be.at.most(33_500);
      expect(without.chunksWith("dist/lightClient")).to.deep.equal([]);
    });

    it("loads other functions' code only when the app calls these functions", async () => {
      const split = await bundle('export { createVerifier } from "keyroot";', {}, app);
      for (const chunk of ["keccak", "evidence", "readRoot", "verifyContacts", "anyFile", "watch"]) {
        const loaded = split.chunksWith(`dist/${chunk}`);
        expect(loaded, chunk).to.not.be.empty;
        for (const name of loaded) expect(split.initial).to.not.include(name);
      }
      const generator = await bundle('export { generateKeyPair } from "keyroot/records";', {}, app);
      const textOf = ({ chunks, initial }: Bundle) =>
        initial.map((name) => Buffer.from(chunks.get(name) ?? "")).join("");
      const basePoint = "17319886477121189177719202498822615443556957307604340815256226171904769976866975908866528699";
      expect(textOf(generator)).to.include(basePoint);
      expect(textOf(split)).to.not.include(basePoint);
    });
  });

  describe("in its tarball", () => {
    it("contains only modules, types, schemas, licenses and documentation", () => {
      const others = files.filter((path) => !/^dist\/[\w/-]+(?:\.js|\.js\.map|\.d\.ts)$/.test(path));
      expect(others.sort()).to.deep.equal([
        "LICENSE",
        "README.md",
        "THIRD-PARTY.md",
        "docs/errors.md",
        "package.json",
        "schemas/block-proof.schema.json",
        "schemas/bundle.schema.json",
        "schemas/proof.schema.json",
      ]);
    });

    it("contains at most 31 modules besides its entries", () => {
      const entries = Object.values(manifest.exports).filter((target) => typeof target === "object");
      const modules = files.filter((path) => path.endsWith(".js") && !path.startsWith("dist/internal/"));
      expect(modules.length - entries.length).to.be.within(1, 31);
    });

    it("declares the values that each entry exports, under their names", async () => {
      const entries = Object.entries(manifest.exports).flatMap(([name, target]) =>
        typeof target === "object" && !name.includes("*") ? [[name, target] as const] : [],
      );
      expect(entries.map(([name]) => name)).to.include.members(["./key-types", "./records"]);
      for (const [name, { types, default: code }] of entries) {
        const exported = Object.keys((await import(join(installed, code))) as object);
        const lists = (await read(installed, types)).matchAll(/^export \{([^}]*)\}/gm);
        const declared = Array.from(lists, ([, list = ""]) => list.split(","))
          .flat()
          .map((item) => item.trim())
          .filter((item) => item !== "" && !item.startsWith("type "))
          .map((item) => item.replace(/^.* as /, ""));
        expect(declared, name).to.include.members(exported);
      }
    });

    it("contains the full text of every source file in its source maps", async () => {
      const maps = files.filter((path) => path.endsWith(".map"));
      expect(maps).to.not.be.empty;
      for (const path of maps) {
        const { sources, sourcesContent } = JSON.parse(await read(installed, path)) as Record<string, string[]>;
        expect(sourcesContent, path).to.have.lengthOf(sources?.length ?? NaN);
        for (const source of sources ?? []) expect(source).to.match(/^(?:\.\.\/)+(?:src|node_modules)\//);
      }
    });

    it("has no dependencies", async () => {
      expect(manifest.dependencies ?? {}).to.deep.equal({});
      const notices = await read(installed, "THIRD-PARTY.md");
      const named = [...notices.matchAll(/^## (\S+) \d+\.\d+\.\d+$/gm)].map(([, name]) => name);
      expect(named).to.deep.equal([
        ...["@ethereumjs/rlp", "@noble/curves", "@noble/hashes"],
        ...["@stablelib/binary", "@stablelib/int", "@stablelib/sha256", "@stablelib/wipe"],
      ]);
      const sources = new Set<string>();
      for (const path of files.filter((name) => name.endsWith(".map"))) {
        const text = await read(installed, path);
        for (const [, name = ""] of text.matchAll(/"(?:\.\.\/)+node_modules\/((?:@[^/"]+\/)?[^/"]+)\//g))
          sources.add(name);
      }
      expect([...sources].sort()).to.deep.equal(named);
    });

    it("names its repository, bug tracker and required Node", () => {
      expect(manifest).to.deep.include({
        name: "keyroot",
        homepage: `${REPOSITORY}#readme`,
        bugs: `${REPOSITORY}/issues`,
        engines: { node: ">=22.13.0" },
      });
      expect(manifest.repository.url).to.equal(`git+${REPOSITORY}.git`);
    });

    it("contains only absolute links to existing pages", async () => {
      const pages = files.filter((path) => path.endsWith(".md"));
      expect(pages).to.include.members(["README.md", "docs/errors.md"]);
      for (const page of pages) {
        const text = await read(installed, page);
        for (const link of linksIn(text)) {
          const [address = "", heading] = link.split("#");
          const path = address.replace(`${REPOSITORY}/blob/main/`, "");
          if (path.startsWith("https:")) continue;
          if (address !== "") expect(address, page).to.not.equal(path);
          if (address !== "") await access(join(ROOT, path));
          const target = address === "" ? text : await read(ROOT, path);
          if (heading !== undefined) expect(headingsOf(target), `${page}: ${link}`).to.include(heading);
        }
      }
    });
  });
});
