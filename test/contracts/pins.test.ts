import { expect } from "chai";
import { dataLength, keccak256 } from "ethers";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const NAME = "contracts/PublicKeyRegistry.sol:PublicKeyRegistry";
const PINS = new URL("pins.json", import.meta.url);

interface BuildInfo {
  solcLongVersion: string;
  input: { sources: object; settings: { outputSelection: object } & Record<string, unknown> };
}

interface StorageLayout {
  storage: { label: string; slot: string; offset: number; type: string }[];
  types: Record<string, { label: string; numberOfBytes: string }>;
}

/** What an auditor compares with a deployed contract and with a build of their own. */
async function pinsOf(): Promise<unknown> {
  const { bytecode, deployedBytecode } = await hre.artifacts.readArtifact(NAME);
  const buildInfo = await readBuildInfo();
  const { outputSelection: _, ...settings } = buildInfo.input.settings;
  return {
    compiler: buildInfo.solcLongVersion,
    settings,
    sources: Object.keys(buildInfo.input.sources).sort(),
    creationCode: { bytes: dataLength(bytecode), keccak256: keccak256(bytecode) },
    deployedCode: { bytes: dataLength(deployedBytecode), keccak256: keccak256(deployedBytecode) },
    storage: storageOf(buildInfo),
  };
}

async function readBuildInfo(): Promise<BuildInfo> {
  const id = await hre.artifacts.getBuildInfoId(NAME);
  const path = id === undefined ? undefined : await hre.artifacts.getBuildInfoPath(id);
  if (path === undefined) throw new Error("The contract was not built.");
  return JSON.parse(await readFile(path, "utf8")) as BuildInfo;
}

/** Each variable's place: "slot 4: uint256 _userCount". */
function storageOf({ input }: BuildInfo): string[] {
  const file = "project/contracts/PublicKeyRegistry.sol";
  const contract = "PublicKeyRegistry";
  const outputSelection = { [file]: { [contract]: ["storageLayout"] } };
  const solc = require("solc") as { compile(input: string): string };
  const question = { ...input, settings: { ...input.settings, outputSelection } };
  const output = JSON.parse(solc.compile(JSON.stringify(question))) as {
    contracts: Record<string, Record<string, { storageLayout: StorageLayout }>>;
  };
  const layout = output.contracts[file]?.[contract]?.storageLayout;
  if (layout === undefined) throw new Error("The compiler gives no storage layout.");
  return layout.storage.map(({ slot, offset, type, label }) => {
    return `slot ${slot}, byte ${offset}: ${layout.types[type]?.label ?? type} ${label}`;
  });
}

describe("the contract's pins", () => {
  it("are what the committed settings build (after an intended change, take over what the failure shows)", async () => {
    const pins: unknown = JSON.parse(await readFile(PINS, "utf8"));
    expect(await pinsOf()).to.deep.equal(pins);
  });

  it("name no folder of this machine", async () => {
    expect(JSON.stringify((await readBuildInfo()).input)).not.to.include(hre.config.paths.root);
  });

  it("come out the same in any other folder", async function () {
    this.timeout(120_000);
    const folder = await mkdtemp(join(tmpdir(), "keyroot-elsewhere-"));
    try {
      const { root } = hre.config.paths;
      await cp(join(root, "contracts"), join(folder, "contracts"), { recursive: true });
      await symlink(join(root, "node_modules"), join(folder, "node_modules"));
      await writeFile(join(folder, "package.json"), '{ "type": "module" }');
      const config = `export default ${JSON.stringify({ solidity: hre.userConfig.solidity })};`;
      await writeFile(join(folder, "hardhat.config.js"), config);
      await run(join(root, "node_modules/.bin/hardhat"), ["build"], { cwd: folder });
      const path = join(folder, "artifacts/contracts/PublicKeyRegistry.sol/PublicKeyRegistry.json");
      const { bytecode } = JSON.parse(await readFile(path, "utf8")) as { bytecode: string };
      expect(bytecode).to.equal((await hre.artifacts.readArtifact(NAME)).bytecode);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
