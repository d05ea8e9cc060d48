/**
 * `npm run audit:contract`: runs every check of the contract, in stages. With `-- --short`, each fuzz test runs 500
 * rounds instead of 10,000, and the mutants and chains that take long are left out.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const isShort = process.argv.includes("--short");
const env = { ...process.env, ...(!isShort && { TEST_ALL: "1", FUZZ: "thorough" }) };
const tests = (...patterns: string[]) => [
  "hardhat",
  "test",
  "--no-compile",
  ...patterns.flatMap((one) => globSync(one, { cwd: ROOT })),
];

const STAGES: readonly { name: string; words: readonly string[] }[] = [
  { name: "security rules", words: ["solhint", "--max-warnings", "0", "contracts/**/*.sol"] },
  { name: "compiler", words: ["hardhat", "build", "--quiet"] },
  { name: "fuzz tests and invariants", words: tests("test/solidity/*.t.sol") },
  { name: "proofs", words: tests("test/formal/*.test.ts") },
  { name: "unit tests, gas, pins", words: ["hardhat", "test", "mocha", "--no-compile"] },
  {
    name: "mutants, coverage, package",
    words: tests("test/scripts/contract/*.test.ts", "test/consumers/contractsPackage.test.ts"),
  },
  { name: "page of the rules", words: tests("test/docs/auditGuide.test.ts") },
];

const start = performance.now();
const secondsSince = (time: number) => `${Math.round((performance.now() - time) / 1000)} s`;
const print = (line: string) => process.stdout.write(`${line}\n`);
print(
  isShort
    ? "Short audit of the contract: about 3 minutes on 2 cores."
    : "Audit of the contract: about 11 minutes on 2 cores. 'npm run audit:contract -- --short' takes about 3.",
);
for (const [i, { name, words }] of STAGES.entries()) {
  const began = performance.now();
  print(`\n===== ${i + 1}/${STAGES.length} ${name}, after ${secondsSince(start)}`);
  const [program = "", ...args] = words;
  const { status } = spawnSync(join(ROOT, "node_modules/.bin", program), args, { cwd: ROOT, env, stdio: "inherit" });
  if (status !== 0) {
    print(`\nThe audit failed in the stage '${name}', after ${secondsSince(start)}.`);
    process.exit(1);
  }
  print(`===== ${name}: passed in ${secondsSince(began)}`);
}
print(`\nThe audit passed in ${secondsSince(start)}.`);
