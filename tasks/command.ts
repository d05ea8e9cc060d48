import { HardhatError } from "@nomicfoundation/hardhat-errors";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { ArgumentError, KeyrootError, TransportError, VerificationError } from "../src/errors.ts";
import { taskRuns } from "./refusal.ts";

/** What a command answers: one object for scripts, and the same for people. */
export interface Outcome {
  json: object;
  text: string;
}

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
 * The action of a task: runs a command and prints its outcome, or its error, for people or with `--json` as one object.
 * An outcome is printed to standard output; an error for people goes to standard error.
 */
export function command<Args extends { json?: boolean }>(
  run: (args: Args, hre: HardhatRuntimeEnvironment) => Promise<Outcome | undefined>,
) {
  return async (args: Args, hre: HardhatRuntimeEnvironment): Promise<void> => {
    taskRuns();
    try {
      const outcome = await run(args, hre);
      if (outcome !== undefined) print(args.json ? JSON.stringify(outcome.json) : outcome.text);
    } catch (error) {
      process.exitCode = exitCodeOf(error);
      if (args.json) print(JSON.stringify({ error: toJson(error) }));
      else process.stderr.write(`${describeError(error)}\n`);
      if (hre.globalOptions.showStackTraces && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    }
  };
}

/** Writes a line to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof VerificationError) return EXIT.false;
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
  return { code, ...(error instanceof VerificationError && { step: error.step }), message, expected, actual };
}

/** Hardhat's own refusals are wrong questions; everything else that has no code of ours is a defect. */
function codeOf(error: unknown): string {
  return HardhatError.isHardhatError(error) ? "HARDHAT" : error instanceof TransportError ? error.code : "INTERNAL";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
