import { EXIT } from "../commands/exitCodes.ts";

/** The Hardhat options that have a value. */
const VALUED = /^(?:--(?:build-profile|config|gas-stats-json|network|verbosity)|-v)$/;

let started = false;

/** Records that a Keyroot command has started. After the start, the command sets the exit code. */
export function commandStarted(): void {
  started = true;
}

/**
 * Makes a command line for Keyroot fail as Keyroot's commands do, even if Hardhat rejects it before a task runs. The
 * process then ends with exit code 2 instead of 1, and prints an error object if `--json` is given.
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
    const message = ["Hardhat rejected these arguments. Standard error contains the reason.", hint ?? ""]
      .join(" ")
      .trimEnd();
    process.stdout.write(`${JSON.stringify({ error: { code: "ARGUMENT_INVALID", message } })}\n`);
  });
}
