import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const root = new URL("../../", import.meta.url);

/** Where the contract is, from the project's folder. */
export const CONTRACT_PATH = "contracts/PublicKeyRegistry.sol";

/** The part of the compiler's answer that is used here. */
export interface Compiled {
  ast: AstNode;
  abi: unknown[];
  /** The creation code: 0x and hex digits. */
  bytecode: string;
}

/** A node of the compiler's syntax tree. `src` is "start:length:file", in bytes of the source. */
export interface AstNode {
  nodeType: string;
  src: string;
  [property: string]: unknown;
}

/**
 * Compiles the contract's source, changed or not, in memory: plainly, without the optimizer, which takes twenty times as
 * long and changes nothing of what the source says.
 *
 * @returns Undefined when it does not compile.
 */
export async function compileContract(source: string): Promise<Compiled | undefined> {
  const sources: Record<string, { content: string }> = { [CONTRACT_PATH]: { content: source } };
  const known = ["contracts/IPublicKeyRegistry.sol"];
  for (const path of known) sources[path] = { content: await readFile(new URL(path, root), "utf8") };
  for (const file of ["access/Ownable2Step.sol", "access/Ownable.sol", "utils/Context.sol"]) {
    const name = `@openzeppelin/contracts/${file}`;
    sources[name] = { content: await readFile(require.resolve(name), "utf8") };
  }
  const settings = {
    evmVersion: "shanghai",
    outputSelection: { [CONTRACT_PATH]: { "": ["ast"], PublicKeyRegistry: ["abi", "evm.bytecode.object"] } },
  };
  const solc = require("solc") as { compile(input: string): string };
  const output = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings }))) as {
    sources: Record<string, { ast: AstNode }>;
    contracts?: Record<string, { PublicKeyRegistry: { abi: unknown[]; evm: { bytecode: { object: string } } } }>;
  };
  const contract = output.contracts?.[CONTRACT_PATH]?.PublicKeyRegistry;
  const ast = output.sources[CONTRACT_PATH]?.ast;
  if (!contract || !ast) return undefined;
  return { ast, abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
}
