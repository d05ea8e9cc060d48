import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "./root.ts";
import type { Stage } from "./stage.ts";

export const HARDHAT = fileURLToPath(new URL("dist/src/cli.js", import.meta.resolve("hardhat/package.json")));
/** Loaded before the tests of each process. */
export const OUTSIDE_TESTS = "test/support/outsideTests.ts";
/** Folder of the built packages. Tests that install packages copy them from there. */
const PACKED = join(ROOT, "build");

export interface StageResult {
  stage: Stage;
  seconds: number;
  passed: number;
  failed: number;
  output: string;
}

/** The limit of a stage in ms. It ends a stage that hangs, so that a failed run still prints its other results. */
const STAGE_MS = 75 * 60_000;

/** Runs a program to its end, or to the limit of a stage. */
export function run(command: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"], timeout: STAGE_MS });
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

/**
 * The environment of the tests.
 * @param all true: as in `npm run test:all`
 */
export function environmentOf(all: boolean): NodeJS.ProcessEnv {
  return {
    ...process.env,
    // Hundreds of processes share their compiled code.
    NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/compiled"),
    ...(all && { TEST_ALL: "1", FUZZ: "thorough", PACKED_PACKAGES: PACKED }),
    ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
  };
}

/** Runs the tests of a stage, or its script. */
export async function runStage(stage: Stage, files: readonly string[], env: NodeJS.ProcessEnv): Promise<StageResult> {
  const start = performance.now();
  const config = stage.config === undefined ? [] : ["--config", stage.config];
  const command =
    stage.script === undefined
      ? [process.execPath, HARDHAT, ...config, "test", "--no-compile", OUTSIDE_TESTS, ...files]
      : ["npm", "run", "--silent", stage.script];
  const { code, output } = await run(command, env);
  const seconds = (performance.now() - start) / 1000;
  const passed = stage.script === undefined ? countIn(output, "passing") : Number(code === 0);
  const failed = countIn(output, "failing");
  // A stage without tests, or with another exit code than 0, has failed.
  return { stage, seconds, passed, failed: code !== 0 || passed === 0 ? Math.max(1, failed) : failed, output };
}
