import { EXIT } from "../commands/exitCodes.ts";

/** Hardhat's own options that take a value. */
const VALUED = /^(?:--(?:build-profile|config|gas-stats-json|network|verbosity)|-v)$/;

let started = false;

/** Declares that a Keyroot command runs: it sets the exit code from now on. */
export function commandStarted(): void {
  started = true;
}

/**
 * Hardhat exits with 1 if it rejects a command line before a task runs. Keyroot's commands exit with 2 for invalid arguments
 * and print an error object with `--json`, so this corrects both at exit.
 * @param hint a remedy that Hardhat does not print
 */
export function correctRefusals(words: readonly string[], hint: string | undefined): void {
  const task = words.find((word, i) => !word.startsWith("-") && !VALUED.test(words[i - 1] ?? ""));
  if (task !== "keyroot") return;
  process.on("exit", (code) => {
    if (started || code !== 1) return;
    process.exitCode = EXIT.invalidArguments;
    if (!words.includes("--json")) {
      if (hint !== undefined) process.stderr.write(`${hint}\n`);
      return;
    }
    const message = ["Hardhat rejected these arguments; standard error has the reason.", hint ?? ""]
      .join(" ")
      .trimEnd();
    process.stdout.write(`${JSON.stringify({ error: { code: "ARGUMENT_INVALID", message } })}\n`);
  });
}
