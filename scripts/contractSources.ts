import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const root = new URL("../", import.meta.url);

/** Where the contract is, from the project's folder. */
export const CONTRACT_PATH = "contracts/PublicKeyRegistry.sol";

/** The contract's source. */
export function readContract(): Promise<string> {
  return readFile(new URL(CONTRACT_PATH, root), "utf8");
}

/** What the contract imports, all the way down, by the names under which the compiler asks for it. */
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

/** Asks the compiler from npm, in this process; the answer has the shape that the question asks for. */
export function askCompiler(input: object): unknown {
  const solc = require("solc") as { compile(input: string): string };
  return JSON.parse(solc.compile(JSON.stringify(input)));
}
