/**
 * Mutation testing of the contract. Each mutant must fail a test, or be listed in
 * `scripts/mutation/equivalentMutants.json` with the reason why it behaves like the contract. `node
 * scripts/mutation/mutateContract.ts` prints the results. The exit code is 1 if a mutant survives that is not listed,
 * or if a listed one does not survive.
 */
import hre from "hardhat";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { readContract } from "../generate/contractSources.ts";
import { compileContract } from "./compile.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import type { MutantResult } from "./worker.ts";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));
const EQUIVALENT = new URL("equivalentMutants.json", import.meta.url);
/** Far longer than the tests of any mutant take, also on a busy machine. */
const TIMEOUT_MS = 1_800_000;

interface MutationReport {
  mutants: number;
  notCompiling: number;
  killed: number;
  /**
   * The number of mutants that each test killed, by the test's full title. Each mutant counts for the first test that
   * failed.
   */
  killedBy: Record<string, number>;
  equivalent: number;
  /** Surviving mutants that are not listed, and listed mutants that do not survive. */
  findings: string[];
}

/** Tests all mutants of the contract, which must have been built before. */
export async function mutateContract(): Promise<MutationReport> {
  const source = await readContract();
  const compiled = await compileContract(source);
  if (!compiled) throw new Error("The contract itself does not compile.");
  const mutants = mutantsOf(source, compiled.ast);
  const listed = JSON.parse(await readFile(EQUIVALENT, "utf8")) as { from: string; to: string; reason: string }[];

  const [ofContract, ...results] = await testAll([{ from: "", to: "", source }, ...mutants]);
  if (ofContract !== null) throw new Error(`The unchanged contract fails: ${ofContract ?? "no result"}`);

  const report: MutationReport = { mutants: 0, notCompiling: 0, killed: 0, killedBy: {}, equivalent: 0, findings: [] };
  const survivors = mutants.filter((_, i) => results[i] === null);
  const isSame = (a: { from: string; to: string }, b: { from: string; to: string }) =>
    a.from === b.from && a.to === b.to;
  for (const { from, to } of survivors) {
    if (listed.some((mutant) => isSame(mutant, { from, to }))) report.equivalent++;
    else report.findings.push(`survived: ${from}\n       as: ${to}`);
  }
  for (const { from, to } of listed) {
    if (survivors.some((mutant) => isSame(mutant, { from, to }))) continue;
    report.findings.push(`listed, but does not survive: ${from}\n                          as: ${to}`);
  }
  for (const [i, { from, to }] of mutants.entries()) {
    const result = results[i];
    if (result === undefined) throw new Error(`This mutant was not tested: ${to}`);
    if (result === "does not compile") {
      report.notCompiling++;
      // Otherwise this statement would count as tested, although no mutant without it ran.
      if (to.includes("{}")) report.findings.push(`does not compile without: ${from}`);
      continue;
    }
    report.mutants++;
    if (result === null) continue;
    report.killed++;
    report.killedBy[result] = (report.killedBy[result] ?? 0) + 1;
  }
  return report;
}

/** Tests the mutants in one worker process per processor, at most four. The results are in the order of the mutants. */
async function testAll(mutants: readonly Mutant[]): Promise<MutantResult[]> {
  const results: MutantResult[] = [];
  const queue = mutants.entries();
  await Promise.all(
    Array.from({ length: Math.min(4, availableParallelism()) }, async () => {
      const worker = fork(WORKER, {
        execArgv: ["--max-old-space-size=1024"],
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      const exited = new AbortController();
      worker.once("exit", (code, signal) => {
        exited.abort(new Error(`A worker process ended with ${code ?? signal ?? "no status"}.`));
      });
      const receive = async () => {
        const signal = AbortSignal.any([exited.signal, AbortSignal.timeout(TIMEOUT_MS)]);
        const [message] = (await once(worker, "message", { signal })) as [MutantResult];
        return message;
      };
      try {
        await receive();
        for (const [i, { source }] of queue) {
          worker.send(source);
          results[i] = await receive();
        }
      } finally {
        worker.kill("SIGKILL");
      }
    }),
  );
  return results;
}

if (import.meta.main) {
  const start = performance.now();
  await hre.tasks.getTask("build").run({ quiet: true, noTests: true });
  const { findings, ...report } = await mutateContract();
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...report, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
