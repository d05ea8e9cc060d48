import { expect } from "chai";
import { build } from "esbuild";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CONTRACT_PROOF, hashInputs, inputFiles, INPUTS } from "../../scripts/test/contractProof.ts";
import { OUTSIDE_TESTS } from "../../scripts/test/runStage.ts";
import { assignFiles } from "../../scripts/test/stages.ts";
import { ROOT } from "../../scripts/test/root.ts";

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
    // Everything else comes from packages, which the lock file pins, or from contracts/.
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
    const packages = imported.filter(({ external, path }) => external === true && path.startsWith("@keyroot/"));
    expect(new Set(packages.map(({ path }) => path))).to.deep.equal(new Set(["@keyroot/contracts"]));
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

    it("after a file is added to the sources", () => {
      writeFileSync(join(copy, "contracts/Added.sol"), "");
      expect(hashInputs(copy)).not.to.equal(hash);
    });
  });
});
