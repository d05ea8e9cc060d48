import { HardhatError } from "@nomicfoundation/hardhat-errors";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { printable } from "keyroot/input";
import { ArgumentError, InvariantError, KeyrootError, VerificationError } from "keyroot/errors";
import { EXIT, taskRuns } from "./exitCodes.ts";

/** What a command answers: one object for scripts, and the same for people. */
export interface Outcome {
  json: object;
  text: string;
}

/**
 * The action of a task: runs a command and prints its outcome, or its error, for people or with `--json` as one object.
 * An outcome is printed to standard output; an error for people goes to standard error.
 */
export function command<Args extends { json?: boolean }>(
  run: (args: Args, hre: HardhatRuntimeEnvironment) => Promise<Outcome | undefined>,
) {
  return async (args: Args, hre: HardhatRuntimeEnvironment): Promise<void> => {
    taskRuns();
    process.stdout.off("error", onOutputError).on("error", onOutputError);
    try {
      const outcome = await run(args, hre);
      if (outcome !== undefined) print(args.json ? JSON.stringify(outcome.json) : outcome.text);
    } catch (error) {
      process.exitCode = exitCodeOf(error);
      if (args.json) print(JSON.stringify({ error: toJson(error) }));
      else process.stderr.write(`${describeError(error)}\n`);
      // It is on by default where CI runs: a refusal in our own words needs none.
      const unforeseen = error instanceof Error && !(error instanceof KeyrootError);
      if (hre.globalOptions.showStackTraces && unforeseen) process.stderr.write(`${error.stack}\n`);
    }
  };
}

/** Writes a line to standard output, unless that takes nothing more. */
export function print(text: string): void {
  if (!lost) process.stdout.write(`${text}\n`);
}

let lost = false;

/** A pipe that takes nothing for as long is one whose reader has stopped. */
const READER_PATIENCE_MS = 5_000;

/**
 * Takes no further lines, and goes on when what was printed is out, so that none is cut off: at once, unless standard output
 * is a pipe whose reader is behind.
 */
export function afterOutput(goOn: () => void): void {
  lost = true;
  if (process.stdout.writableLength === 0) {
    goOn();
    return;
  }
  setTimeout(goOn, READER_PATIENCE_MS);
  process.stdout.write("", goOn);
}

/** Whether standard output takes nothing more. */
export function outputIsLost(): boolean {
  return lost;
}

function onOutputError({ code, message }: NodeJS.ErrnoException): void {
  if (lost) return;
  lost = true;
  // Its reader has had enough, as in `| head -1`: the work goes on, unheard.
  if (code === "EPIPE") return;
  process.stderr.write(`FILE_UNWRITABLE: Standard output cannot be written: ${message}.\n`);
  process.exitCode = EXIT.noAnswer;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof VerificationError || error instanceof InvariantError) return EXIT.false;
  if (error instanceof ArgumentError || HardhatError.isHardhatError(error)) return EXIT.wrongQuestion;
  return EXIT.noAnswer;
}

function describeError(error: unknown): string {
  if (error instanceof VerificationError) return `${error.code} (step ${error.step}): ${error.message}`;
  if (error instanceof KeyrootError) return `${error.code}: ${error.message}`;
  return `${codeOf(error)}: ${messageOf(error)} (--show-stack-traces tells more)`;
}

function toJson(error: unknown): object {
  if (!(error instanceof KeyrootError)) return { code: codeOf(error), message: messageOf(error) };
  const { code, message, expected, actual } = error;
  const { step, evidence } = error instanceof VerificationError ? error : {};
  return { code, step, message, expected, actual, evidence };
}

/** Hardhat's own refusals are wrong questions; everything else that has no code of ours is a defect. */
function codeOf(error: unknown): string {
  return HardhatError.isHardhatError(error) ? "HARDHAT" : "INTERNAL";
}

/** Another's words, which may come from an endpoint: without addresses, which hold secrets. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const lines = message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<address>").split(/\r?\n/);
  return lines.map(printable).join("\n");
}
