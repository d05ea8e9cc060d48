import { expect } from "chai";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { compileAnew, pinContract, PINS, readInput } from "../../scripts/pinContract.ts";

const run = promisify(execFile);
const { root } = hre.config.paths;

describe("the contract's pins", () => {
  it("are what the committed settings build (after an intended change: node scripts/pinContract.ts)", async () => {
    const pins: unknown = JSON.parse(await readFile(PINS, "utf8"));
    expect(await pinContract()).to.deep.equal(pins);
  });

  it("are what the compiler builds, asked without Hardhat", async () => {
    const { evm } = compileAnew(await readInput());
    expect(`0x${evm.bytecode.object}`).to.equal((await hre.artifacts.readArtifact("PublicKeyRegistry")).bytecode);
  });

  it("come out the same in any other folder", async function () {
    this.timeout(120_000);
    const folder = await mkdtemp(join(tmpdir(), "keyroot-elsewhere-"));
    try {
      await cp(join(root, "contracts"), join(folder, "contracts"), { recursive: true });
      await symlink(join(root, "node_modules"), join(folder, "node_modules"));
      await writeFile(join(folder, "package.json"), '{ "type": "module" }');
      const config = `export default ${JSON.stringify({ solidity: hre.userConfig.solidity })};`;
      await writeFile(join(folder, "hardhat.config.js"), config);
      // Hardhat tells its options on by the environment, the place of this project among them.
      const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HARDHAT_")));
      await run(join(root, "node_modules/.bin/hardhat"), ["build"], { cwd: folder, env });
      const path = join(folder, "artifacts/contracts/PublicKeyRegistry.sol/PublicKeyRegistry.json");
      const { bytecode } = JSON.parse(await readFile(path, "utf8")) as { bytecode: string };
      expect(bytecode).to.equal((await hre.artifacts.readArtifact("PublicKeyRegistry")).bytecode);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
