import { expect } from "chai";
import { keccak256 } from "ethers";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { compile, type CompilerInput, pinsOf } from "../../scripts/generate/pins.ts";
import { withoutHardhatOptions } from "../support/processes/withoutHardhatOptions.ts";

const run = promisify(execFile);
const { root } = hre.config.paths;
const readJson = async (path: string): Promise<unknown> => JSON.parse(await readFile(join(root, path), "utf8"));

interface Pins {
  compiler: string;
  settings: { compilationTarget: Record<string, string> };
  creationCode: { keccak256: string };
}

describe("the contract's pins", () => {
  let pins: Pins;

  before(async () => {
    pins = (await readJson("test/contracts/pins.json")) as Pins;
  });

  it("equal the output of the pinned compiler for the verification input, without Hardhat", async () => {
    const input = (await readJson("contracts/verification/PublicKeyRegistry.json")) as CompilerInput;
    expect(pinsOf(compile(input))).to.deep.equal(pins);
  });

  it("contain the compiler version and contract name that docs/contract.md gives for source verification", async () => {
    const page = await readFile(join(root, "docs/contract.md"), "utf8");
    const name = Object.entries(pins.settings.compilationTarget).map((parts) => parts.join(":"));
    expect(page).to.include(`\`v${pins.compiler}\``).and.to.include(`\`${name.join()}\``);
  });

  it("equal Hardhat's artifact", async function () {
    if (hre.globalOptions.coverage) this.skip(); // The artifact is then the instrumented contract.
    const { bytecode } = await hre.artifacts.readArtifact("PublicKeyRegistry");
    expect(keccak256(bytecode)).to.equal(pins.creationCode.keccak256);
  });

  it("equal Hardhat's artifact in any other folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keyroot-elsewhere-"));
    try {
      await cp(join(root, "contracts"), join(folder, "contracts"), { recursive: true });
      await symlink(join(root, "node_modules"), join(folder, "node_modules"));
      await writeFile(join(folder, "package.json"), '{ "type": "module" }');
      const config = `export default ${JSON.stringify({ solidity: hre.userConfig.solidity })};`;
      await writeFile(join(folder, "hardhat.config.js"), config);
      await run(join(root, "node_modules/.bin/hardhat"), ["build"], { cwd: folder, env: withoutHardhatOptions() });
      const path = join(folder, "artifacts/contracts/PublicKeyRegistry.sol/PublicKeyRegistry.json");
      const { bytecode } = JSON.parse(await readFile(path, "utf8")) as { bytecode: string };
      expect(keccak256(bytecode)).to.equal(pins.creationCode.keccak256);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
