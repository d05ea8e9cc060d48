/** Runs solc's model checker (the BMC engine with z3, both included in the npm package) on the claims. */
import { readFile } from "node:fs/promises";
import { readImports, runSolc } from "../../scripts/generate/contractSources.ts";
import { twinOf } from "../../scripts/generate/proofTwin.ts";

const CLAIM = /^ {4}function (\w+)\([^]*?^ {4}\}\n/gm;
const CLAIMS = "test/formal/Claims.sol";

/** The number of ids of a whole call that the checker follows. The claims about single steps hold for any number. */
const UNROLLED_IDS = 3;

/** Diagnostics that every proof produces and that do not weaken it, by error code. */
const EXPECTED: Record<string, string> = {
  3993: "The BMC engine is deprecated: the compiler is pinned to a version that has it.",
  5740: "Unreachable code: the statements after renounceOwnership().",
  2018: "Could be pure: renounceOwnership() without the data of its error.",
};

export interface Proof {
  /** Names of the claims of which every assertion was proved. */
  proved: string[];
  /** The other claims, each with the checker's message about the first assertion that it did not prove. */
  unproved: Record<string, string>;
  /** All other diagnostics, for example about language features that the checker does not support. */
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
 * Proves the claims about the twin of a contract.
 * @param contract the contract's source
 * @param only the name of a single claim to prove. Default: all claims
 * @throws Error if the twin or the claims do not compile
 */
export async function prove(contract: string, only?: string): Promise<Proof> {
  const claims = await readClaims(only);
  const ranges = claimsIn(claims);
  const diagnostics = await runModelChecker({ [CLAIMS]: claims, "test/formal/RegistryTwin.sol": twinOf(contract) });

  const proof: Proof = { proved: [], unproved: {}, remarks: [] };
  const byClaim = new Map(ranges.map(({ name }) => [name, [] as Diagnostic[]]));
  for (const diagnostic of diagnostics) {
    const { file, start = -1 } = diagnostic.sourceLocation ?? {};
    const range = ranges.find((range) => file === CLAIMS && range.start <= start && start < range.end);
    if (range && diagnostic.message.includes("Assertion violation")) byClaim.get(range.name)?.push(diagnostic);
    else proof.remarks.push(diagnostic.formattedMessage);
  }
  for (const { name, assertions } of ranges) {
    const results = byClaim.get(name) ?? [];
    const failed = results.find(({ message }) => !message.includes("Assertion violation check is safe!"));
    if (failed) proof.unproved[name] = failed.formattedMessage;
    else if (results.length !== assertions) proof.unproved[name] = `${results.length} of ${assertions} results`;
    else proof.proved.push(name);
  }
  return proof;
}

/** The names of all claims. */
export async function claimNames(): Promise<string[]> {
  return claimsIn(await readClaims()).map(({ name }) => name);
}

/** The source of the claims, reduced to one claim if `only` is given. */
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

/** Compiles the sources with the model checker and returns its diagnostics without the expected ones. */
async function runModelChecker(own: Record<string, string>): Promise<Diagnostic[]> {
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
  const { errors = [] } = runSolc(input) as { errors?: Diagnostic[] };
  const fatal = errors.find(({ severity }) => severity === "error");
  if (fatal) throw new Error(fatal.formattedMessage);
  return errors.filter(({ errorCode = "" }) => !(errorCode in EXPECTED));
}

/**
 * Replaces `revert Error(…)` with `revert()`, because the checker does not understand that the former ends a call. Both
 * have the same effect, except for the returned data.
 */
function withoutErrorData(source: string): string {
  // Padded to the same length, so that source locations remain valid.
  return source.replaceAll(/\brevert \w+\([^;]*\);/g, (statement) => `revert();`.padEnd(statement.length));
}
