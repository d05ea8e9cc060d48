import { styleText } from "node:util";
import { KeyrootError, VerificationError } from "keyroot/errors";
import { printable } from "keyroot/input";
import { EXIT } from "./exitCodes.ts";
import type { Outcome } from "./host.ts";

/** True once standard output accepts nothing more. */
let lost = false;

/** Maximum time in ms to wait at the end for a pipe's reader to accept the remaining output. */
const READER_TIMEOUT_MS = 5_000;

/** Writes a line to standard output, unless that accepts nothing more. */
export function print(text: string): void {
  if (!lost) process.stdout.write(`${text}\n`);
}

/** Writes a line to standard error, for people. */
export function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** True if standard output accepts nothing more. */
export function outputIsLost(): boolean {
  return lost;
}

/** Handles errors of standard output for the rest of the process. */
export function watchOutput(): void {
  process.stdout.off("error", onOutputError).on("error", onOutputError);
}

/**
 * Accepts no further lines, and continues once all printed lines have been written: immediately, unless standard output is
 * a pipe whose reader is behind.
 */
export function afterOutput(next: () => void): void {
  lost = true;
  if (process.stdout.writableLength === 0) {
    next();
    return;
  }
  setTimeout(next, READER_TIMEOUT_MS);
  process.stdout.write("", next);
}

function onOutputError({ code, message }: NodeJS.ErrnoException): void {
  if (lost) return;
  lost = true;
  // The reader has closed the pipe, as `| head -1` does: the work continues without output.
  if (code === "EPIPE") return;
  printError(`FILE_UNWRITABLE: Standard output cannot be written: ${message}.`);
  process.exitCode = EXIT.unavailable;
}

/** Prints the outcome of a command to standard output: text, or one JSON object with `--json`. */
export function printOutcome({ json, text }: Outcome, asJson: boolean): void {
  print(asJson ? JSON.stringify(json) : text);
}

/** Prints why a command failed: as text to standard error, or as one JSON object to standard output. */
export function printFailure(error: unknown, options: { json: boolean; showStackTraces: boolean }): void {
  if (options.json) print(JSON.stringify({ error: toJson(error) }));
  else printError(describeError(error));
  if (options.showStackTraces && error instanceof Error && !(error instanceof KeyrootError)) {
    printError(error.stack ?? error.message);
  }
}

function describeError(error: unknown): string {
  const code = (text: string) => style("failure", text, process.stderr);
  if (error instanceof VerificationError) return `${code(error.code)} (step ${error.step}): ${error.message}`;
  if (error instanceof KeyrootError) return `${code(error.code)}: ${error.message}`;
  return `${code("INTERNAL")}: ${messageOf(error)} (use --show-stack-traces for details)`;
}

function toJson(error: unknown): object {
  if (!(error instanceof KeyrootError)) return { code: "INTERNAL", message: messageOf(error) };
  const { code, message, expected, actual } = error;
  const { step, evidence } = error instanceof VerificationError ? error : {};
  return { code, step, message, expected, actual, evidence };
}

/** The message of a foreign error, which may come from an endpoint: without URLs, which may contain secrets. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const lines = message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<url>").split(/\r?\n/);
  return lines.map(printable).join("\n");
}

const FORMATS = {
  heading: "bold",
  success: "green",
  failure: "red",
  alarm: ["bold", "red"],
  notice: "yellow",
  dim: "dim",
} as const;

/**
 * Colors text for a terminal. Other streams, and terminals with NO_COLOR, get plain text. FORCE_COLOR colors text
 * everywhere.
 */
export function style(kind: keyof typeof FORMATS, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const format = FORMATS[kind];
  return styleText(typeof format === "string" ? format : [...format], text, { stream });
}

/** Words as a command line for a POSIX shell. */
export function shellCommand(words: readonly string[]): string {
  return words.map(quote).join(" ");
}

function quote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
