/**
 * Runs the tests in stages, several at a time, and prints each stage's time:
 *
 *     npm test                    all stages that need no browser, on one chain and one database
 *     npm run test:all            all stages, also on the second chain and database, with thorough fuzzing and all checks
 *     npm test -- FILE …          only these files, in one process
 *
 * `test:all` runs a failed stage once more, alone. A stage that then passes counts as passed, and is reported as unstable. The last
 * line is `N passed, N failed`.
 */
import { spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const HARDHAT = fileURLToPath(new URL("dist/src/cli.js", import.meta.resolve("hardhat/package.json")));

/** Folder of the built packages. Tests that install packages copy them from there. */
const PACKED = join(ROOT, "build");

/** The tests of one process. */
interface Stage {
  name: string;
  /** Files and folders below the project's folder. */
  paths?: readonly string[];
  /** Files and folders in `paths` that belong to another stage. */
  except?: readonly string[];
  /** Files and folders in `paths` that only `npm run test:all` runs. */
  thorough?: readonly string[];
  /** An npm script that runs instead of tests. It counts as one test, and passes with exit code 0. */
  script?: string;
  /** true: only `npm run test:all` runs the stage. */
  allOnly?: boolean;
}

/** The stages, longest first, so that all lanes end at about the same time. Every test file belongs to exactly one stage. */
const STAGES: readonly Stage[] = [
  {
    name: "contracts",
    paths: ["test/contracts", "test/formal", "test/solidity", "test/docs/auditGuide.test.ts"],
    thorough: ["test/formal", "test/contracts/package.test.ts"],
  },
  {
    name: "commands",
    paths: ["test/operator/commands"],
    thorough: ["test/operator/commands/hardhatProject.test.ts"],
  },
  { name: "browser", paths: ["test/keyroot/browser", "test/operator/browser", "test/web"], allOnly: true },
  { name: "service", paths: ["test/service"], except: ["test/service/faults", "test/service/stack"] },
  { name: "checks", script: "check:sources", allOnly: true },
  { name: "service with faults", paths: ["test/service/faults"], allOnly: true },
  { name: "consumers", paths: ["test/consumers", "test/keyroot/engines"], allOnly: true },
  { name: "library", paths: ["test/keyroot"], except: ["test/keyroot/browser", "test/keyroot/engines"] },
  { name: "demo and docs", paths: ["test/demo", "test/docs"], except: ["test/docs/auditGuide.test.ts"] },
  { name: "publisher", paths: ["test/operator/publisher"] },
  { name: "benchmarks", paths: ["test/bench"], allOnly: true },
  {
    name: "operator and stack",
    paths: ["test/operator", "test/layers.test.ts", "test/service/stack"],
    except: ["test/operator/browser", "test/operator/commands", "test/operator/publisher"],
  },
];

interface StageResult {
  stage: Stage;
  seconds: number;
  passed: number;
  failed: number;
  output: string;
}

const isTest = (path: string) => /\.(?:test\.ts|t\.sol)$/.test(path);

function testFilesIn(path: string): string[] {
  const absolute = join(ROOT, path);
  if (!statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) return isTest(path) ? [path] : [];
  const found = readdirSync(absolute, { recursive: true, encoding: "utf8" });
  return found.filter(isTest).map((name) => relative(ROOT, join(absolute, name)));
}

/** @param without files and folders to leave out */
function filesOf({ paths = [] }: Stage, without: readonly string[]): string[] {
  const files = paths.flatMap(testFilesIn);
  return files.filter((file) => !without.some((path) => file === path || file.startsWith(`${path}/`)));
}

/** Returns the test files that each stage runs. @throws Error for a file in no stage or in two stages */
function assignFiles(): Map<Stage, string[]> {
  const every = STAGES.flatMap((stage) => filesOf(stage, stage.except ?? []));
  const forgotten = testFilesIn("test").filter((file) => !every.includes(file));
  const twice = every.filter((file, i) => every.indexOf(file) !== i);
  if (forgotten.length + twice.length === 0) {
    const leftOut = ({ except = [], thorough = [] }: Stage) => (all ? except : [...except, ...thorough]);
    return new Map(STAGES.map((stage) => [stage, filesOf(stage, leftOut(stage))]));
  }
  throw new Error(`Assign each test file to one stage in scripts/runTests.ts: ${[...forgotten, ...twice].join(", ")}.`);
}

function run(command: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => {
      resolve({ code: code ?? 1, output });
    });
  });
}

/** Reads the total of all runners in Hardhat's output, such as "384 passing (3 solidity, 381 mocha)". */
function countIn(output: string, what: "passing" | "failing"): number {
  const lines = output.matchAll(new RegExp(`^(\\d+) ${what} \\(\\d+ (?:mocha|solidity)`, "gm"));
  return Number([...lines].at(-1)?.[1] ?? 0);
}

/** The failures in a stage's output: the text after mocha's count, or the last 60 lines. */
function failuresIn({ stage, output }: StageResult): string {
  const summary = output.search(/^ +\d+ passing \(/m);
  const failures = summary < 0 ? output.split("\n").slice(-60).join("\n") : output.slice(summary);
  return `===== failures in ${stage.name}\n${failures.trimEnd()}\n`;
}

async function runStage(stage: Stage, files: readonly string[], env: NodeJS.ProcessEnv): Promise<StageResult> {
  const start = performance.now();
  const command =
    stage.script === undefined
      ? [process.execPath, HARDHAT, "test", "--no-compile", ...files]
      : ["npm", "run", "--silent", stage.script];
  const { code, output } = await run(command, env);
  const seconds = (performance.now() - start) / 1000;
  const passed = stage.script === undefined ? countIn(output, "passing") : Number(code === 0);
  const failed = countIn(output, "failing");
  // A stage without tests, or with another exit code than 0, has failed.
  return { stage, seconds, passed, failed: code !== 0 || passed === 0 ? Math.max(1, failed) : failed, output };
}

/** Runs stages, at most `lanes` at a time. */
async function runAll(
  stages: readonly Stage[],
  { files, env, lanes }: { files: Map<Stage, string[]>; env: NodeJS.ProcessEnv; lanes: number },
): Promise<StageResult[]> {
  const results: StageResult[] = [];
  const waiting = stages[Symbol.iterator]();
  const lane = async () => {
    for (const stage of waiting) {
      const result = await runStage(stage, files.get(stage) ?? [], env);
      results.push(result);
      process.stdout.write(`\n===== ${stage.name}: ${result.seconds.toFixed(0)} s\n${result.output}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

const all = process.argv.includes("--all");
/** Number of stages that run in parallel. Tests with browsers or killed services exceed their time limits beside two other stages. */
const LANES = all ? Math.min(2, availableParallelism()) : availableParallelism() + 1;
const named = process.argv.slice(2).filter((word) => word !== "--all");
const env = {
  ...process.env,
  // Hundreds of processes share their compiled code.
  NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/compiled"),
  ...(all && { TEST_ALL: "1", FUZZ: "thorough", PACKED_PACKAGES: PACKED }),
  ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
};

if (named.length > 0) {
  const child = spawn(process.execPath, [HARDHAT, "test", ...named], { cwd: ROOT, env, stdio: "inherit" });
  child.on("close", (code) => (process.exitCode = code ?? 1));
} else {
  const files = assignFiles();
  const start = performance.now();
  // The stages share these builds. The check also builds the contracts.
  const commands = all
    ? [[join(ROOT, "scripts/generate/contracts.ts"), "--check"], [join(ROOT, "scripts/package/packPackages.ts")]]
    : [[HARDHAT, "build", "--quiet"]];
  const builds = await Promise.all(
    commands.map((words) => run([process.execPath, ...words], { ...env, PACKED_PACKAGES: undefined })),
  );
  const brokenBuild = builds.find(({ code }) => code !== 0);
  if (brokenBuild !== undefined) {
    process.stdout.write(`${brokenBuild.output}\n0 passed, 1 failed\n`);
    process.exit(1);
  }
  const stages = STAGES.filter(({ allOnly = false }) => all || !allOnly);
  const first = await runAll(stages, { files, env, lanes: LANES });
  const isBroken = ({ failed }: StageResult) => failed > 0;
  const repeated = all
    ? await runAll(
        first.filter(isBroken).map(({ stage }) => stage),
        { files, env, lanes: 1 },
      )
    : [];
  const results = first.map((result) => repeated.find(({ stage }) => stage === result.stage) ?? result);
  const total = (key: "passed" | "failed") => results.reduce((sum, result) => sum + result[key], 0);
  const line = ({ stage, seconds, passed, failed }: StageResult) =>
    `${stage.name.padEnd(20)} ${seconds.toFixed(0).padStart(4)} s ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed`;
  const broken = results.filter(isBroken);
  const passedAlone = first.filter((result) => isBroken(result) && !broken.some(({ stage }) => stage === result.stage));
  process.stdout.write(
    [
      "",
      ...[...passedAlone, ...broken].map(failuresIn),
      ...results.map(line),
      `${"total".padEnd(20)} ${((performance.now() - start) / 1000).toFixed(0).padStart(4)} s`,
      ...passedAlone.map(
        ({ stage, failed }) =>
          `Unstable: ${failed} tests of ${stage.name} failed beside another stage and passed alone.`,
      ),
      ...(broken.length > 0 ? [`Failed: ${broken.map(({ stage }) => stage.name).join(", ")}.`] : []),
      ...(all
        ? []
        : ["npm run test:all adds the second chain and database, thorough fuzzing, browsers and all checks."]),
      `${total("passed")} passed, ${total("failed")} failed`,
      "",
    ].join("\n"),
  );
  process.exitCode = total("failed") > 0 ? 1 : 0;
}
