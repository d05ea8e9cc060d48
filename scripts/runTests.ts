/**
 * Runs the tests in stages, with several stages at a time:
 *
 *     npm test                           all stages that need no browser, on one chain and one database, without the
 *                                        tests of the repository's own scripts
 *     npm run test:all                   all stages, also on the second chain and database, with thorough fuzzing and
 *                                        all checks
 *     npm run test:all -- --everything   also the longest stages, and the contract's proof even if its inputs are the
 *                                        same. CI runs it every night.
 *     npm run test:all -- --stage NAME   only this stage; may be repeated
 *     npm test -- PATH …                 only these files and folders, in one process
 *
 * `--record` writes the time of each stage to `scripts/test/stageSeconds.json`, and later runs print these times. The
 * last line is `N passed, N failed`.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CONTRACT_PROOF, recordedProof, recordProof } from "./test/contractProof.ts";
import { ROOT } from "./test/root.ts";
import { environmentOf, HARDHAT, OUTSIDE_TESTS, run, runStage, type StageResult } from "./test/runStage.ts";
import type { Stage } from "./test/stage.ts";
import { assignFiles, STAGES, testFilesIn } from "./test/stages.ts";

const SECONDS = join(ROOT, "scripts/test/stageSeconds.json");

/** Returns the failures in a stage's output: the text after mocha's count, or the last 60 lines. */
function failuresIn({ stage, output }: StageResult): string {
  const summary = output.search(/^ +\d+ passing \(/m);
  const failures = summary < 0 ? output.split("\n").slice(-60).join("\n") : output.slice(summary);
  return `===== failures in ${stage.name}\n${failures.trimEnd()}\n`;
}

/** Runs stages, with at most `lanes` in parallel. */
async function runAll(
  stages: readonly Stage[],
  { files, env, lanes }: { files: Map<Stage, string[]>; env: NodeJS.ProcessEnv; lanes: number },
): Promise<StageResult[]> {
  const results: StageResult[] = [];
  const waiting = [...stages];
  const running = new Set<Stage>();
  const lane = async () => {
    for (let stage = waiting.shift(); stage !== undefined; stage = waiting.shift()) {
      running.add(stage);
      const queue = waiting.length > 0 ? `; ${waiting.length} wait for ${namesOf(running)}` : "";
      print(`${stage.name} starts, ${usualTime(stage)}${queue}`);
      const result = await runStage(stage, files.get(stage) ?? [], env);
      running.delete(stage);
      results.push(result);
      print(`\n===== ${stage.name}: ${result.seconds.toFixed(0)} s\n${result.output}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

function namesOf(stages: Iterable<Stage>): string {
  return [...stages].map(({ name }) => name).join(" and ");
}

function usualTime({ name }: Stage): string {
  const seconds = recorded[mode]?.[name];
  return seconds === undefined ? "no recorded time" : `usually ${seconds} s on 2 cores`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    everything: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    stage: { type: "string", multiple: true, default: [] },
  },
});
const { all } = values;
const mode = all ? "npm run test:all" : "npm test";
const recorded = JSON.parse(readFileSync(SECONDS, "utf8")) as Record<string, Record<string, number>>;
/** The number of stages that run in parallel. Most stages often wait for other processes. */
const LANES = availableParallelism() + 2;
const env = { ...environmentOf(all), ...(values.everything && { TEST_EVERYTHING: "1" }) };

if (named.length > 0) {
  const files = named.flatMap((path) => (testFilesIn(path).length > 0 ? testFilesIn(path) : [path]));
  const child = spawn(process.execPath, [HARDHAT, "test", OUTSIDE_TESTS, ...files], {
    cwd: ROOT,
    env,
    stdio: "inherit",
  });
  child.on("close", (code) => (process.exitCode = code ?? 1));
} else {
  process.exitCode = await runStages();
}

/** Runs the chosen stages, and prints the results. @returns the exit code */
async function runStages(): Promise<number> {
  const start = performance.now();
  const files = assignFiles(all);
  const chosen = chosenStages();
  const proof = values.everything ? undefined : recordedProof();
  const unchanged = proof === undefined ? [] : chosen.filter((stage) => stage === CONTRACT_PROOF);
  const leftOut = all && values.stage.length === 0 ? STAGES.filter((stage) => !chosen.includes(stage)) : [];

  // Build once for all stages. The command with --check also builds the contracts.
  const commands = all
    ? [[join(ROOT, "scripts/generate/contracts.ts"), "--check"], [join(ROOT, "scripts/package/packPackages.ts")]]
    : [[HARDHAT, "build", "--quiet"]];
  print(`All stages wait for the build of the contracts${all ? " and packages" : ""}.`);
  const builds = await Promise.all(
    commands.map((words) => run([process.execPath, ...words], { ...env, PACKED_PACKAGES: undefined })),
  );
  const brokenBuild = builds.find(({ code }) => code !== 0);
  if (brokenBuild !== undefined) {
    print(`${brokenBuild.output}\n0 passed, 1 failed`);
    return 1;
  }

  const stages = chosen.filter((stage) => !unchanged.includes(stage)).sort((a, b) => secondsOf(b) - secondsOf(a));
  const results = await runAll(stages, { files, env, lanes: LANES });
  const broken = results.filter(({ failed }) => failed > 0);
  if (values.record) recordSeconds(results);
  const proved = all ? results.find(({ stage, failed }) => stage === CONTRACT_PROOF && failed === 0) : undefined;

  const total = (key: "passed" | "failed") => results.reduce((sum, result) => sum + result[key], 0);
  const line = ({ stage, seconds, passed, failed }: StageResult) =>
    `${stage.name.padEnd(20)} ${seconds.toFixed(0).padStart(4)} s ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed`;
  print(
    [
      "",
      ...broken.map(failuresIn),
      ...results.map(line),
      ...unchanged.map(
        ({ name }) =>
          `${name.padEnd(20)} as recorded on ${proof?.date}: ${proof?.passed} passed in ${proof?.seconds} s; ` +
          "its inputs are the same (npm run test:all -- --everything runs it)",
      ),
      ...leftOut.map(({ name }) => `${name.padEnd(20)} only with npm run test:all -- --everything`),
      `${"total".padEnd(20)} ${((performance.now() - start) / 1000).toFixed(0).padStart(4)} s`,
      ...(broken.length > 0 ? [`Failed: ${namesOf(broken.map(({ stage }) => stage))}.`] : []),
      ...(proved === undefined ? [] : [`Recorded the contract proof: commit ${recordProof(proved)}.`]),
      ...(all
        ? []
        : ["npm run test:all adds the second chain and database, thorough fuzzing, browsers and all checks."]),
      `${total("passed")} passed, ${total("failed")} failed`,
    ].join("\n"),
  );
  return total("failed") > 0 ? 1 : 0;
}

/** Returns the stages of this run. @throws Error for an unknown name */
function chosenStages(): Stage[] {
  const unknown = values.stage.find((name) => !STAGES.some((stage) => stage.name === name));
  if (unknown !== undefined)
    throw new Error(`There is no stage "${unknown}". Choose from: ${STAGES.map(({ name }) => name).join(", ")}.`);
  if (values.stage.length > 0) return STAGES.filter(({ name }) => values.stage.includes(name));
  return STAGES.filter(({ addedBy }) => addedBy === undefined || (all && (addedBy === "all" || values.everything)));
}

/**
 * Returns the recorded time of a stage. Stages with a longer time start first, so that all end at about the same time.
 */
function secondsOf({ name }: Stage): number {
  return recorded[mode]?.[name] ?? Infinity;
}

function recordSeconds(results: readonly StageResult[]): void {
  const seconds = results.map(({ stage, seconds }) => [stage.name, Math.round(seconds)] as const);
  recorded[mode] = { ...recorded[mode], ...Object.fromEntries(seconds) };
  writeFileSync(SECONDS, `${JSON.stringify(recorded, null, 2)}\n`);
}
