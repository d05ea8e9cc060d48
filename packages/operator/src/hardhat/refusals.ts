import { EXIT } from "../commands/exitCodes.ts";

/** Hardhat's own options that take a value. */
const VALUED = /^(?:--(?:build-profile|config|gas-stats-json|network|verbosity)|-v)$/;

let started = false;

/** Declares that a command of ours runs: from now on it sets the exit code. */
export function commandStarted(): void {
  started = true;
}

/**
 * Hardhat exits with 1 if it rejects a command line before a task runs. Our commands exit with 2 for invalid arguments and
 * print an error object with `--json`, so correct that at exit.
 */
export function correctRefusals(words: readonly string[]): void {
  const task = words.find((word, i) => !word.startsWith("-") && !VALUED.test(words[i - 1] ?? ""));
  if (task !== "keyroot") return;
  process.on("exit", (code) => {
    if (started || code !== 1) return;
    process.exitCode = EXIT.invalidArguments;
    if (!words.includes("--json")) return;
    const message = "Hardhat rejected these arguments; standard error has the reason.";
    process.stdout.write(`${JSON.stringify({ error: { code: "ARGUMENT_INVALID", message } })}\n`);
  });
}
