/**
 * Mutation testing of the contract: each mutant has to fail a test, or to stand in `test/contracts/equivalentMutants.json`
 * with the reason why no test can tell it from the contract. `node scripts/mutateContract.ts` prints what it found and exits
 * with 1 on a survivor that is not listed and on a listed one that does not survive.
 */
import hre from "hardhat";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { readContract } from "./contractSources.ts";
import { compileContract } from "./mutation/compile.ts";
import { type Mutant, mutantsOf } from "./mutation/mutants.ts";
import type { Answer } from "./mutation/worker.ts";

const WORKER = fileURLToPath(new URL("mutation/worker.ts", import.meta.url));
const LISTED = new URL("../test/contracts/equivalentMutants.json", import.meta.url);
/** In milliseconds: far more than the tests take of any mutant. */
const LIMIT = 120_000;

interface Outcome {
  mutants: number;
  notCompiling: number;
  killed: number;
  /** How many were killed by each test: the first that failed. */
  killedBy: Record<string, number>;
  equivalent: number;
  findings: string[];
}

/** Tests all mutants of the contract, which must have been built. */
export async function mutateContract(): Promise<Outcome> {
  const source = await readContract();
  const compiled = await compileContract(source);
  if (!compiled) throw new Error("The contract itself does not compile.");
  const mutants = mutantsOf(source, compiled.ast);
  const listed = JSON.parse(await readFile(LISTED, "utf8")) as { from: string; to: string; reason: string }[];

  const answers = await testAll([{ from: "", to: "", source }, ...mutants]);
  const [own, ...ofMutants] = answers;
  if (own !== null) throw new Error(`The contract itself fails: ${own ?? "no answer"}`);

  const outcome: Outcome = { mutants: 0, notCompiling: 0, killed: 0, killedBy: {}, equivalent: 0, findings: [] };
  const survivors = mutants.filter((_, i) => ofMutants[i] === null);
  const isSame = (a: { from: string; to: string }, b: { from: string; to: string }) =>
    a.from === b.from && a.to === b.to;
  for (const { from, to } of survivors) {
    if (listed.some((mutant) => isSame(mutant, { from, to }))) outcome.equivalent++;
    else outcome.findings.push(`survived: ${from}\n       as: ${to}`);
  }
  for (const { from, to } of listed) {
    if (survivors.some((mutant) => isSame(mutant, { from, to }))) continue;
    outcome.findings.push(`listed, but no survivor: ${from}\n                     as: ${to}`);
  }
  for (const [i, { from, to }] of mutants.entries()) {
    const answer = ofMutants[i];
    if (answer === undefined) throw new Error("A mutant was not tested.");
    if (answer === "does not compile") {
      outcome.notCompiling++;
      // So that every statement is known to be tested.
      if (to.includes("{}")) outcome.findings.push(`cannot be left out: ${from}`);
      continue;
    }
    outcome.mutants++;
    if (answer === null) continue;
    outcome.killed++;
    outcome.killedBy[answer] = (outcome.killedBy[answer] ?? 0) + 1;
  }
  return outcome;
}

/** The answers in the order of the mutants, by as many workers as there are processors, four at most. */
async function testAll(mutants: readonly Mutant[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const next = mutants.entries();
  await Promise.all(
    Array.from({ length: Math.min(4, availableParallelism()) }, async () => {
      const worker = fork(WORKER, {
        execArgv: ["--max-old-space-size=1024"],
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      const gone = new AbortController();
      worker.once("exit", () => {
        gone.abort(new Error("A worker broke down."));
      });
      const answer = async () => {
        const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(LIMIT)]);
        const [message] = (await once(worker, "message", { signal })) as [Answer];
        return message;
      };
      try {
        await answer();
        for (const [i, { source }] of next) {
          worker.send(source);
          answers[i] = await answer();
        }
      } finally {
        worker.kill("SIGKILL");
      }
    }),
  );
  return answers;
}

if (import.meta.main) {
  const start = performance.now();
  await hre.tasks.getTask("build").run({ quiet: true, noTests: true });
  const { findings, ...outcome } = await mutateContract();
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...outcome, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
