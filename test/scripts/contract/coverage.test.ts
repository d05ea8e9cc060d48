import { expect } from "chai";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { testAll } from "../../support/testSize.ts";
import { withoutHardhatOptions } from "../../support/processes/withoutHardhatOptions.ts";

const run = promisify(execFile);
const { root } = hre.config.paths;

const MOCHA = ["mocha", "test/contracts/PublicKeyRegistry.test.ts"];

// Runs the whole command, which includes the tests in Solidity. `npm run test:all` also checks that Mocha's tests alone
// cover everything.
for (const words of testAll ? [[], MOCHA] : [[]])
  describe(["hardhat test", ...words, "--coverage"].join(" "), function () {
    // Ends only endless waits: the copy runs all tests of the contract.
    this.timeout(7_200_000);
    let project: string;

    before("runs the contract's tests in a copy of the project", async () => {
      // Not in this project: the build would replace the artifacts of the tests that are running.
      project = await mkdtemp(join(tmpdir(), "keyroot-coverage-"));
      const files = ["test/contracts/PublicKeyRegistry.test.ts", "test/solidity", "test/formal", "ignition/modules"];
      for (const path of ["contracts", "typechain-types", ...files]) {
        // Without the programs of the proof, which need more of the project and measure nothing.
        const filter = (from: string) => !/formal\/.*\.ts$/.test(relative(root, from));
        await cp(join(root, path), join(project, path), { recursive: true, filter });
      }
      await symlink(join(root, "node_modules"), join(project, "node_modules"));
      await writeFile(join(project, "package.json"), '{ "type": "module" }');
      const config = join(root, "hardhat.contract.config.ts");
      await writeFile(join(project, "hardhat.config.ts"), `export { default } from ${JSON.stringify(config)};`);
      const args = ["test", ...words, "--coverage"];
      await run(join(root, "node_modules/.bin/hardhat"), args, { cwd: project, env: withoutHardhatOptions() });
    });

    after(() => rm(project, { recursive: true }));

    it("reports PublicKeyRegistry.sol as fully covered, and no other file", async () => {
      const report = await readFile(join(project, "coverage/lcov.info"), "utf8");
      const values = (field: string) =>
        [...report.matchAll(new RegExp(`^${field}:(.*)$`, "gm"))].map(([, value]) => value);
      expect(values("SF")).to.deep.equal(["contracts/PublicKeyRegistry.sol"]);
      expect(Number(values("LF")[0])).to.be.at.least(20);
      expect(values("LH")).to.deep.equal(values("LF"));
    });

    it("does not change typechain-types", async () => {
      const names = await readdir(join(root, "typechain-types"), { recursive: true });
      expect(await readdir(join(project, "typechain-types"), { recursive: true })).to.have.members(names);
      for (const name of names.filter((name) => name.endsWith(".ts"))) {
        const path = join("typechain-types", name);
        expect(await readFile(join(project, path), "utf8"), path).to.equal(await readFile(join(root, path), "utf8"));
      }
    });
  });
