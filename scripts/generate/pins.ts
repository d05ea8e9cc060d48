/** The contract as the pinned compiler builds it, and the values that auditors compare. */
import { dataLength, keccak256 } from "ethers";
import { CONTRACT_PATH, runSolc } from "./contractSources.ts";

/** The compiler's name for the source of the contract. */
const CONTRACT_SOURCE = `project/${CONTRACT_PATH}`;
const INTERFACE_SOURCE = "project/contracts/IPublicKeyRegistry.sol";

/** The standard JSON input of the compiler. */
export interface CompilerInput {
  language: string;
  sources: Record<string, { content?: string }>;
  settings: { outputSelection: unknown; [setting: string]: unknown };
}

export interface Compiled {
  abi: unknown[];
  interfaceAbi: unknown[];
  /** The creation code of the contract: 0x and hex digits. */
  bytecode: string;
  /**
   * The code of a deployed registry: 0x and hex digits. Every registry has the same code, whoever owns it, because the
   * contract has no immutables.
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

/**
 * Returns the values that auditors compare with a deployed contract and with their own build
 * (`test/contracts/pins.json`).
 */
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
