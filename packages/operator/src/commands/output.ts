import { randomUUID } from "node:crypto";
import { styleText } from "node:util";
import { KeyrootError, VerificationError } from "keyroot/internal/errors";
import { printable } from "keyroot/internal/input";
import { EXIT } from "./exitCodes.ts";
import { wrapLine } from "./wrapLine.ts";
import type { Outcome } from "./host.ts";

/** True if output has stopped, because its reader is gone or the process ends. */
let lost = false;

/** The maximum time in ms to wait at exit until a pipe's reader has accepted all output. */
const READER_TIMEOUT_MS = 5_000;

/**
 * Writes a line to standard output, unless output has stopped. Invisible and control characters are escaped, because
 * the text may contain data from services, endpoints or files. To color text, use `style`.
 */
export function print(text: string): void {
  write(toTerminal(text, process.stdout));
}

/**
 * Writes a value to standard output as one line of JSON, with bigints as strings of digits. It escapes the same
 * characters as `print`, but in the notation of JSON.
 */
export function printJson(value: unknown): void {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each));
  write(text.replace(UNPRINTABLE, (character) => [...toCodeUnits(character)].join("")));
}

/** Writes text and a line break to standard error, with the same characters escaped as `print`. */
export function printError(text: string): void {
  process.stderr.write(`${toTerminal(text, process.stderr)}\n`);
}

function write(line: string): void {
  if (!lost) process.stdout.write(`${line}\n`);
}

const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Stands for the escape character in the result of `style`. Nobody else can write it, because it is random. */
const ESCAPE = `<${randomUUID()}>`;

function toTerminal(text: string, { isTTY, columns }: NodeJS.WriteStream): string {
  const parts = text.split(ESCAPE).map((part) => part.replace(/[^\n\t]+/g, printable));
  const lines = parts.join("\u001b").split("\n");
  return (isTTY && columns > 0 ? lines.map((line) => wrapLine(line, columns)) : lines).join("\n");
}

function* toCodeUnits(character: string): Generator<string> {
  for (let i = 0; i < character.length; i++) yield `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
}

/** Shows why a transaction is in no block yet. @param reason whole sentences */
export function printWaiting(reason: string): void {
  printError(`Waiting: ${reason}`);
}

/** Returns true if output to standard output has stopped. */
export function outputIsLost(): boolean {
  return lost;
}

/** Handles write errors of standard output until the process ends. */
export function watchOutput(): void {
  process.stdout.off("error", onOutputError).on("error", onOutputError);
}

/**
 * Stops further output, and calls `next` once all printed lines are written. If the reader of a pipe is too slow,
 * `next` is called after 5 s, even if some lines are lost.
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
  // The reader has closed the pipe, as `head -1` does. The work continues without output.
  if (code === "EPIPE") return;
  printError(`FILE_UNWRITABLE: Cannot write to standard output: ${message}.`);
  process.exitCode = EXIT.unavailable;
}

/** Prints the outcome of a command to standard output: text, or one JSON object with `--json`. */
export function printOutcome({ json, text }: Outcome, asJson: boolean): void {
  if (asJson) printJson(json);
  else print(text);
}

export function printRebuild(damage: string): void {
  printError(`The saved state was damaged, so it is built again. ${damage}`);
}

/**
 * Prints the error of a command: as text to standard error, or with `json` as one JSON object to standard output. In a
 * terminal, the text ends with a link to the documentation of the error.
 */
export function printFailure(error: unknown, options: { json: boolean; showStackTraces: boolean }): void {
  if (options.json) printJson({ error: errorToJson(error) });
  else printError(describeError(error));
  if (!options.json && process.stderr.isTTY && error instanceof KeyrootError)
    printError(style("link", error.docs, process.stderr));
  if (options.showStackTraces && error instanceof Error && !(error instanceof KeyrootError)) {
    printError(error.stack ?? error.message);
  }
}

/** Describes an error in one line. */
export function describeError(error: unknown): string {
  const code = (text: string) => style("failure", text, process.stderr);
  if (error instanceof KeyrootError) return `${code(error.code)}: ${error.message}`;
  return `${code("INTERNAL")}: ${messageOf(error)} (use --show-stack-traces for details)`;
}

/** Returns the fields of an error for JSON output. */
export function errorToJson(error: unknown): object {
  if (!(error instanceof KeyrootError)) return { code: "INTERNAL", message: messageOf(error) };
  const { code, message, expected, actual } = error;
  const { step, evidence } = error instanceof VerificationError ? error : {};
  return { code, step, message, expected, actual, evidence };
}

/** Returns the message of an error that Keyroot does not define. Removes URLs, because URLs may contain secrets. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const lines = message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<url>").split(/\r?\n/);
  return lines.map(printable).join("\n");
}

/** The place of the text in a format. */
const MARK = "text";

const FORMATS = {
  heading: "bold",
  success: "green",
  failure: "red",
  alarm: ["bold", "red"],
  notice: "yellow",
  dim: "dim",
  link: "cyan",
} as const;

/**
 * Colors text for a terminal, unless NO_COLOR is set. For other outputs, such as a file, the text is colored only if
 * FORCE_COLOR is set.
 */
export function style(kind: keyof typeof FORMATS, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const format = FORMATS[kind];
  const styled = styleText(typeof format === "string" ? format : [...format], MARK, { stream });
  return styled.replaceAll("\u001b", ESCAPE).replace(MARK, () => text);
}

/** Joins words to a command line for a POSIX shell, and quotes words where necessary. */
export function shellCommand(words: readonly string[]): string {
  return words.map(quote).join(" ");
}

function quote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
