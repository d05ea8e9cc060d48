import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const root = new URL("../../", import.meta.url);

/** Path of the contract, relative to the repository. */
export const CONTRACT_PATH = "contracts/PublicKeyRegistry.sol";

/** Reads the contract's source. */
export function readContract(): Promise<string> {
  return readFile(new URL(CONTRACT_PATH, root), "utf8");
}

/** Reads everything that the contract imports, directly or indirectly. The keys are the compiler's source names. */
export async function readImports(): Promise<Record<string, string>> {
  const paths: [name: string, path: string | URL][] = [
    ["contracts/IPublicKeyRegistry.sol", new URL("contracts/IPublicKeyRegistry.sol", root)],
  ];
  for (const file of ["access/Ownable2Step.sol", "access/Ownable.sol", "utils/Context.sol"]) {
    const name = `@openzeppelin/contracts/${file}`;
    paths.push([name, require.resolve(name)]);
  }
  const read = paths.map(async ([name, path]) => [name, await readFile(path, "utf8")] as const);
  return Object.fromEntries(await Promise.all(read));
}

/**
 * Runs the solc package in this process.
 * @param input Standard JSON input
 * @returns Standard JSON output, with the parts that the input selects
 */
export function runSolc(input: object): unknown {
  const solc = require("solc") as { compile(input: string): string };
  return JSON.parse(solc.compile(JSON.stringify(input)));
}
