import { EXIT } from "./command.ts";

/**
 * Hardhat ends with 1 where it refuses a command line before any task runs. For our commands 1 means that the thing
 * asked about is false, and a wrong question is 2.
 */
const [verb] = process.argv.slice(2).filter((word) => !word.startsWith("-"));
let running = false;

/** Says that a task of ours runs: from now on it decides on the exit code. */
export function taskRuns(): void {
  running = true;
}

if (verb === "keyroot") {
  process.on("exit", (code) => {
    if (!running && code === 1) process.exitCode = EXIT.wrongQuestion;
  });
}
