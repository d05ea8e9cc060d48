import { CONTRACT_PATH, readImports, runSolc } from "../generate/contractSources.ts";

/** The parts of the compiler's output that mutation testing uses. */
export interface Compiled {
  ast: AstNode;
  abi: unknown[];
  /** Creation code: 0x and hex digits. */
  bytecode: string;
}

/** A node of the compiler's syntax tree. `src` is "start:length:file", in bytes of the source. */
export interface AstNode {
  nodeType: string;
  src: string;
  [property: string]: unknown;
}

/**
 * Compiles the contract's source, mutated or not, in memory. The optimizer is not used, because it takes twenty times
 * as long and does not change the meaning of the source.
 * @returns undefined if the source does not compile
 */
export async function compileContract(source: string): Promise<Compiled | undefined> {
  const texts = Object.entries({ ...(await readImports()), [CONTRACT_PATH]: source });
  const sources = Object.fromEntries(texts.map(([name, content]) => [name, { content }]));
  const settings = {
    evmVersion: "shanghai",
    outputSelection: { [CONTRACT_PATH]: { "": ["ast"], PublicKeyRegistry: ["abi", "evm.bytecode.object"] } },
  };
  const output = runSolc({ language: "Solidity", sources, settings }) as {
    sources: Record<string, { ast: AstNode }>;
    contracts?: Record<string, { PublicKeyRegistry: { abi: unknown[]; evm: { bytecode: { object: string } } } }>;
  };
  const contract = output.contracts?.[CONTRACT_PATH]?.PublicKeyRegistry;
  const ast = output.sources[CONTRACT_PATH]?.ast;
  if (!contract || !ast) return undefined;
  return { ast, abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
}
