import { expect } from "chai";
import { build } from "esbuild";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CONTRACT_PROOF, hashInputs, inputFiles, INPUTS, PACKAGES } from "../../../scripts/test/contractProof.ts";
import { lockedPackages } from "../../../scripts/test/lockedPackages.ts";
import { OUTSIDE_TESTS } from "../../../scripts/test/runStage.ts";
import { assignFiles } from "../../../scripts/test/stages.ts";
import { ROOT } from "../../../scripts/test/root.ts";
import { never } from "../../support/support.ts";

const lock = readFileSync(join(ROOT, "package-lock.json"), "utf8");

describe("the recorded proof of the contract", () => {
  it("depends on every file that its tests, its scripts and its configuration import", async () => {
    const files = [...(assignFiles(true).get(CONTRACT_PROOF) ?? []), "test/contracts/PublicKeyRegistry.test.ts"];
    const programs = ["scripts/mutation/mutateContract.ts", "scripts/mutation/worker.ts", "scripts/test/runStage.ts"];
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: [...files.filter((file) => file.endsWith(".ts")), ...programs, CONTRACT_PROOF.config, OUTSIDE_TESTS],
      ...{ bundle: true, write: false, metafile: true, packages: "external", platform: "node", format: "esm" },
      ...{ outdir: "none", logLevel: "silent" },
    });
    expect(inputFiles()).to.include.members([...Object.keys(metafile.inputs), ...files]);
    // Everything else comes from locked packages, or from contracts/.
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
    const external = imported.filter(({ external, path }) => external === true && !path.startsWith("node:"));
    const names = new Set(external.map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]));
    names.delete("@keyroot/contracts");
    expect(names).to.include("hardhat");
    const locked = lockedPackages(lock, PACKAGES).map((line) => line.split(" ")[0]);
    expect(locked).to.include.members([...names].map((name) => `node_modules/${name}`));
  });

  describe("is not current any more", () => {
    let copy: string;
    let hash: string;

    before(() => {
      copy = mkdtempSync(join(tmpdir(), "keyroot-inputs-"));
      for (const file of inputFiles()) {
        mkdirSync(dirname(join(copy, file)), { recursive: true });
        cpSync(join(ROOT, file), join(copy, file));
      }
      cpSync(join(ROOT, "package-lock.json"), join(copy, "package-lock.json"));
      hash = hashInputs(copy);
    });

    after(() => {
      rmSync(copy, { recursive: true });
    });

    it("only if an input differs", () => {
      expect(hash).to.equal(hashInputs());
    });

    for (const [kind, paths] of Object.entries(INPUTS))
      it(`after a change of one byte in the ${kind}`, () => {
        for (const path of paths) {
          const file = inputFiles(copy).find((name) => name === path || name.startsWith(`${path}/`)) ?? "";
          const bytes = readFileSync(join(copy, file));
          const changed = Buffer.from(bytes);
          changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1;
          writeFileSync(join(copy, file), changed);
          expect(hashInputs(copy), file).not.to.equal(hash);
          writeFileSync(join(copy, file), bytes);
        }
        expect(hashInputs(copy)).to.equal(hash);
      });

    it("after a change of a package that it uses, and of no other", () => {
      const withOther = (name: string) => {
        const packages = JSON.parse(lock) as { packages: Record<string, { integrity: string }> };
        const entry = packages.packages[`node_modules/${name}`] ?? never();
        entry.integrity = entry.integrity.replace("sha512-", "sha512-A");
        writeFileSync(join(copy, "package-lock.json"), JSON.stringify(packages));
        return hashInputs(copy);
      };
      for (const name of [...PACKAGES, "@nomicfoundation/edr", "@openzeppelin/contracts"])
        expect(withOther(name), name).not.to.equal(hash);
      expect(withOther("echarts")).to.equal(hash);
    });

    it("after a file is added to the sources", () => {
      writeFileSync(join(copy, "contracts/Added.sol"), "");
      expect(hashInputs(copy)).not.to.equal(hash);
    });
  });
});
