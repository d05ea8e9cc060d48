/**
 * What the contract's source is compiled to, and from what: `node scripts/pinContract.ts` writes it to
 * `test/contracts/pins.json`, which a test compares. A change of code, settings or storage is so seen in review.
 */
import { dataLength, keccak256 } from "ethers";
import hre from "hardhat";
import { readFile, writeFile } from "node:fs/promises";
import { askCompiler } from "./contractSources.ts";

const NAME = "contracts/PublicKeyRegistry.sol:PublicKeyRegistry";
const FILE = "project/contracts/PublicKeyRegistry.sol";
export const PINS = new URL("../test/contracts/pins.json", import.meta.url);

interface Metadata {
  compiler: { version: string };
  settings: Record<string, unknown>;
  sources: Record<string, { keccak256: string }>;
}

interface StorageLayout {
  storage: { label: string; slot: string; offset: number; type: string }[];
  types: Record<string, { label: string }>;
}

/** What an auditor compares with a deployed contract and with a build of their own. */
export async function pinContract(): Promise<unknown> {
  const { bytecode, deployedBytecode } = await hre.artifacts.readArtifact(NAME);
  const { metadata, storageLayout } = compileAnew(await readInput());
  const { compiler, settings, sources } = JSON.parse(metadata) as Metadata;
  return {
    compiler: compiler.version,
    settings,
    sources: Object.fromEntries(Object.entries(sources).map(([name, { keccak256 }]) => [name, keccak256])),
    creationCode: { bytes: dataLength(bytecode), keccak256: keccak256(bytecode) },
    deployedCode: { bytes: dataLength(deployedBytecode), keccak256: keccak256(deployedBytecode) },
    storage: storageLayout.storage.map(({ slot, offset, type, label }) => {
      return `slot ${slot}, byte ${offset}: ${storageLayout.types[type]?.label ?? type} ${label}`;
    }),
  };
}

/** What Hardhat gave to the compiler. */
export async function readInput(): Promise<{ settings: object }> {
  const id = await hre.artifacts.getBuildInfoId(NAME);
  const path = id === undefined ? undefined : await hre.artifacts.getBuildInfoPath(id);
  if (path === undefined) throw new Error("The contract was not built.");
  return (JSON.parse(await readFile(path, "utf8")) as { input: { settings: object } }).input;
}

/** Asks the compiler itself. */
export function compileAnew(input: { settings: object }) {
  const outputSelection = { [FILE]: { PublicKeyRegistry: ["metadata", "storageLayout", "evm.bytecode.object"] } };
  const output = askCompiler({ ...input, settings: { ...input.settings, outputSelection } }) as {
    contracts: Record<
      string,
      { PublicKeyRegistry: { metadata: string; storageLayout: StorageLayout; evm: { bytecode: { object: string } } } }
    >;
  };
  const compiled = output.contracts[FILE]?.PublicKeyRegistry;
  if (compiled === undefined) throw new Error("The compiler does not answer.");
  return compiled;
}

if (import.meta.main) {
  await hre.tasks.getTask("build").run({ quiet: true, noTests: true });
  await writeFile(PINS, `${JSON.stringify(await pinContract(), null, 2)}\n`);
}
