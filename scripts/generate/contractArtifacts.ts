/**
 * All committed files that are generated from the contract's source: the contents of the npm package @keyroot/contracts, the
 * auditors' pins, and the proof's twin. `contracts.ts` writes these files.
 */
import { dataLength, isAddress, keccak256 } from "ethers";
import hre from "hardhat";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { z } from "zod";
import { readTwin } from "./proofTwin.ts";
import { CONTRACT_PATH, runSolc } from "./contractSources.ts";

const { root } = hre.config.paths;

/** The compiler's name for the source of the contract. */
const CONTRACT_SOURCE = `project/${CONTRACT_PATH}`;
const INTERFACE_SOURCE = "project/contracts/IPublicKeyRegistry.sol";

/** The standard JSON input of the compiler. */
export interface CompilerInput {
  language: string;
  sources: Record<string, { content?: string }>;
  settings: { outputSelection: unknown; [setting: string]: unknown };
}

interface Compiled {
  abi: unknown[];
  interfaceAbi: unknown[];
  /** The creation code of the contract: 0x and hex digits. */
  bytecode: string;
  /**
   * The code of a deployed registry: 0x and hex digits. The contract has no immutables, so the code is the same for every
   * owner.
   */
  deployedBytecode: string;
  metadata: string;
  storageLayout: StorageLayout;
}

interface Metadata {
  compiler: { version: string };
  settings: Record<string, unknown>;
  sources: Record<string, { keccak256: string }>;
}

interface StorageLayout {
  storage: { label: string; slot: string; offset: number; type: string }[];
  types: Record<string, { label: string }>;
}

/** The part of the compiler's output that `compile` selects. */
interface SolcOutput {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<
    string,
    Record<
      string,
      {
        abi: unknown[];
        metadata: string;
        storageLayout: StorageLayout;
        evm: { bytecode: { object: string }; deployedBytecode: { object: string } };
      }
    >
  >;
}

/**
 * Returns the compiler input with which Hardhat builds the contract, reduced to the contract and its imports. Block
 * explorers verify a deployed registry with this input.
 */
async function readVerificationInput(): Promise<CompilerInput> {
  // Use a separate environment, because the current environment returns instrumented sources with --coverage.
  const { solidity } = await createHardhatRuntimeEnvironment(hre.userConfig, { coverage: false }, root);
  const path = join(root, CONTRACT_PATH);
  const jobs = await solidity.getCompilationJobs([path], { quiet: true, force: true });
  const job = jobs.success ? jobs.compilationJobsPerFile.get(path) : undefined;
  if (job === undefined) throw new Error(`Hardhat cannot compile ${path}: run npx hardhat build for the reason.`);
  const { language, sources, settings } = await job.getSolcInput();
  const outputSelection = { "*": { "*": ["abi", "evm.bytecode", "evm.deployedBytecode", "metadata"] } };
  return { language, sources, settings: { ...settings, outputSelection } };
}

/**
 * Compiles the contract with the pinned compiler.
 *
 * @throws Error If the input does not compile.
 */
export function compile(input: CompilerInput): Compiled {
  const selected = ["abi", "metadata", "storageLayout", "evm.bytecode.object", "evm.deployedBytecode.object"];
  const settings = { ...input.settings, outputSelection: { "*": { "*": selected } } };
  const { contracts = {}, errors = [] } = runSolc({ ...input, settings }) as SolcOutput;
  const contract = contracts[CONTRACT_SOURCE]?.["PublicKeyRegistry"];
  const abstract = contracts[INTERFACE_SOURCE]?.["IPublicKeyRegistry"];
  if (contract === undefined || abstract === undefined) {
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n") || "The compiler has no output.");
  }
  const { abi, metadata, storageLayout, evm } = contract;
  return {
    abi,
    interfaceAbi: abstract.abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
    metadata,
    storageLayout,
  };
}

/** Returns the values that auditors compare with a deployed contract and with their own build: `test/contracts/pins.json`. */
export function pinsOf({ bytecode, deployedBytecode, metadata, storageLayout }: Compiled): object {
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

/** Returns all generated files except `typechain-types`, by path relative to the repository. */
export async function generateFiles(): Promise<Record<string, string>> {
  const input = await readVerificationInput();
  const compiled = compile(input);
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  const files = {
    "contracts/abi/IPublicKeyRegistry.json": json(compiled.interfaceAbi),
    "contracts/abi/PublicKeyRegistry.json": json(compiled.abi),
    "contracts/verification/PublicKeyRegistry.json": json(input),
    "contracts/index.js": moduleOf(compiled, await readDeployments(join(root, "contracts/deployments"))),
    "contracts/index.d.ts": typesOf(compiled),
    "test/contracts/pins.json": json(pinsOf(compiled)),
    "test/formal/RegistryTwin.sol": await readTwin(),
  };
  const formatted = Object.entries(files).map(async ([path, text]) => {
    const filepath = join(root, path);
    return [path, await format(text, { ...(await resolveConfig(filepath)), filepath })] as const;
  });
  return Object.fromEntries(await Promise.all(formatted));
}

const hex = (bytes: number) => z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`));

/** The format of a file in `contracts/deployments`. The README in this folder documents the fields. */
const deployment = z.strictObject({
  chainId: z.int().positive(),
  contract: z.string().refine((text) => text.startsWith("0x") && isAddress(text), "expected an address with checksum"),
  codeHash: hex(32),
  blockNumber: z.int().nonnegative(),
  transactionHash: hex(32),
});

/**
 * Reads the deployments, by chain id.
 *
 * @throws Error If a file has another format, or its name is not `<chain id>.json`.
 */
export async function readDeployments(folder: string): Promise<Record<string, z.infer<typeof deployment>>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  const read = names.map(async (name) => {
    const result = deployment.safeParse(JSON.parse(await readFile(join(folder, name), "utf8")));
    if (!result.success) throw new Error(`${join(folder, name)} is invalid: ${z.prettifyError(result.error)}`);
    if (name !== `${result.data.chainId}.json`) {
      throw new Error(`${join(folder, name)} is the deployment on chain ${result.data.chainId}: rename the file.`);
    }
    return [String(result.data.chainId), result.data] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

const GENERATED = "// Generated by scripts/generate/contracts.ts. Do not edit.\n";

function moduleOf({ abi, bytecode, deployedBytecode }: Compiled, deployments: object): string {
  return `${GENERATED}
export const publicKeyRegistryAbi = ${JSON.stringify(abi)};
export const publicKeyRegistryBytecode = "${bytecode}";
export const publicKeyRegistryBytecodeHash = "${keccak256(bytecode)}";
export const publicKeyRegistryCodeHash = "${keccak256(deployedBytecode)}";
export const deployments = ${JSON.stringify(deployments)};
`;
}

function typesOf({ abi }: Compiled): string {
  return `${GENERATED}
/** ABI of PublicKeyRegistry, including the functions, events and errors that it inherits. */
export declare const publicKeyRegistryAbi: ${literalType(abi)};

/** Creation code, without the constructor argument \`address initialOwner\`: 0x and hex digits. */
export declare const publicKeyRegistryBytecode: \`0x\${string}\`;

/** Keccak-256 of \`publicKeyRegistryBytecode\`: 0x and 64 hex digits. */
export declare const publicKeyRegistryBytecodeHash: \`0x\${string}\`;

/** Keccak-256 of the code of a deployed registry of this version, with any owner: 0x and 64 hex digits. */
export declare const publicKeyRegistryCodeHash: \`0x\${string}\`;

/** A deployed registry. */
export interface Deployment {
  readonly chainId: number;
  /** Address of the registry: 0x and 40 hex digits, with checksum (EIP-55). */
  readonly contract: \`0x\${string}\`;
  /** Keccak-256 of the registry's code: 0x and 64 hex digits. */
  readonly codeHash: \`0x\${string}\`;
  /** Number of the block that contains the deployment. */
  readonly blockNumber: number;
  /** Hash of the transaction that deployed the registry: 0x and 64 hex digits. */
  readonly transactionHash: \`0x\${string}\`;
}

/** The known deployments, by chain id. */
export declare const deployments: Readonly<Record<number, Deployment | undefined>>;
`;
}

/** The TypeScript type of a JSON value, as \`as const\` would infer it. */
function literalType(value: unknown): string {
  if (Array.isArray(value)) return `readonly [${value.map(literalType).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `readonly ${JSON.stringify(key)}: ${literalType(item)};`)
    .join(" ")} }`;
}
