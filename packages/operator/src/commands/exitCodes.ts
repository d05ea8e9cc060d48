/** The exit codes of every command. */
export const EXIT = {
  done: 0,
  /** The thing asked about is false: forged, malformed, incomplete, not published. */
  false: 1,
  /** The question was wrong: a bad option, no such path. */
  wrongQuestion: 2,
  /** The world did not answer. */
  noAnswer: 3,
} as const;

/**
 * Hardhat ends with 1 where it refuses a command line before any task runs. For our commands 1 means that the thing
 * asked about is false, and a wrong question is 2.
 */
const words = process.argv.slice(2);
/** Hardhat's own options that stand before a value. */
const VALUED = /^(?:--(?:build-profile|config|gas-stats-json|network|verbosity)|-v)$/;
const verb = words.find((word, i) => !word.startsWith("-") && !VALUED.test(words[i - 1] ?? ""));
let running = false;

/** Says that a task of ours runs: from now on it decides on the exit code. */
export function taskRuns(): void {
  running = true;
}

if (verb === "keyroot") {
  process.on("exit", (code) => {
    if (running || code !== 1) return;
    process.exitCode = EXIT.wrongQuestion;
    if (!words.includes("--json")) return;
    const message = "Hardhat refuses this command line: standard error says why.";
    process.stdout.write(`${JSON.stringify({ error: { code: "ARGUMENT_INVALID", message } })}\n`);
  });
}
