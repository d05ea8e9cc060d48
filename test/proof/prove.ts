/** Runs solc's model checker (its BMC engine with z3, both inside the npm package) over the claims. */
import { readFile } from "node:fs/promises";
import { askCompiler, readImports } from "../../scripts/contractSources.ts";
import { twinOf } from "./twin.ts";

const CLAIM = /^ {4}function (\w+)\([^]*?^ {4}\}\n/gm;
const CLAIMS = "test/proof/Claims.sol";

/** How many ids of a whole call are followed. The claims on a single step hold for any number. */
const UNROLLED_IDS = 3;

/** What the compiler says of every proof, and what is no news, by its code. */
const EXPECTED: Record<string, string> = {
  3993: "The BMC engine is deprecated: the compiler is pinned to a version that has it.",
  5740: "Unreachable code: what follows renounceOwnership().",
  2018: "Could be pure: renounceOwnership() without the data of its error.",
};

export interface Proof {
  /** The claims, by the name of their function, of which every assertion was proved. */
  proved: string[];
  /** The others, with what the checker says of the first assertion that it did not prove. */
  unproved: Record<string, string>;
  /** What else the checker says: of parts of the language that it does not follow, above all. */
  remarks: string[];
}

interface Diagnostic {
  severity: string;
  errorCode?: string;
  message: string;
  formattedMessage: string;
  sourceLocation?: { file: string; start: number };
}

/**
 * Proves the claims of the twin of a contract.
 *
 * @param contract The contract's source.
 * @param only The one claim to prove; all unless given.
 * @throws Error where the twin or the claims do not compile.
 */
export async function prove(contract: string, only?: string): Promise<Proof> {
  const claims = await readClaims(only);
  const ranges = claimsIn(claims);
  const diagnostics = await check({ [CLAIMS]: claims, "test/proof/RegistryTwin.sol": twinOf(contract) });

  const proof: Proof = { proved: [], unproved: {}, remarks: [] };
  const said = new Map(ranges.map(({ name }) => [name, [] as Diagnostic[]]));
  for (const diagnostic of diagnostics) {
    const { file, start = -1 } = diagnostic.sourceLocation ?? {};
    const range = ranges.find((range) => file === CLAIMS && range.start <= start && start < range.end);
    if (range && diagnostic.message.includes("Assertion violation")) said.get(range.name)?.push(diagnostic);
    else proof.remarks.push(diagnostic.formattedMessage);
  }
  for (const { name, assertions } of ranges) {
    const verdicts = said.get(name) ?? [];
    const bad = verdicts.find(({ message }) => !message.includes("Assertion violation check is safe!"));
    if (bad) proof.unproved[name] = bad.formattedMessage;
    else if (verdicts.length !== assertions) proof.unproved[name] = `${verdicts.length} of ${assertions} answers`;
    else proof.proved.push(name);
  }
  return proof;
}

/** The names of all claims. */
export async function claimNames(): Promise<string[]> {
  return claimsIn(await readClaims()).map(({ name }) => name);
}

/** The claims' source; of one claim, without the others. */
async function readClaims(only?: string): Promise<string> {
  const claims = await readFile(new URL("Claims.sol", import.meta.url), "utf8");
  return only === undefined ? claims : claims.replaceAll(CLAIM, (text, name) => (name === only ? text : ""));
}

function claimsIn(source: string) {
  return [...source.matchAll(CLAIM)].map(({ 0: text, 1: name = "", index }) => ({
    name,
    start: index,
    end: index + text.length,
    assertions: text.split("assert(").length - 1,
  }));
}

/** Everything the compiler has to say, but for what is expected. */
async function check(own: Record<string, string>): Promise<Diagnostic[]> {
  const content = Object.entries({ ...(await readImports()), ...own });
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(content.map(([name, text]) => [name, { content: withoutErrorData(text) }])),
    settings: {
      outputSelection: { "*": { "": ["ast"] } },
      modelChecker: {
        engine: "bmc",
        solvers: ["z3"],
        targets: ["assert"],
        contracts: { [CLAIMS]: ["Claims"] },
        bmcLoopIterations: UNROLLED_IDS,
        showProvedSafe: true,
        showUnproved: true,
        showUnsupported: true,
      },
    },
  };
  const { errors = [] } = askCompiler(input) as { errors?: Diagnostic[] };
  const fatal = errors.find(({ severity }) => severity === "error");
  if (fatal) throw new Error(fatal.formattedMessage);
  return errors.filter(({ errorCode = "" }) => !(errorCode in EXPECTED));
}

/** The checker does not see that `revert Error(…)` ends a call. `revert()` does the same but for the data it returns. */
function withoutErrorData(source: string): string {
  // Of the same length, so that places in the source stay.
  return source.replaceAll(/\brevert \w+\([^;]*\);/g, (statement) => `revert();`.padEnd(statement.length));
}
