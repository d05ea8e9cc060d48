import { styleText } from "node:util";
import { EXIT } from "./exitCodes.ts";

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
