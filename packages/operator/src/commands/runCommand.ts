import { ArgumentError, KeyrootError, VerificationError } from "keyroot/errors";
import { checkAllBuiltins, printable } from "keyroot/input";
import { checkVariables } from "../shared/variables.ts";
import type { Definition, Parsed } from "./definition.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";
import type { Host, Outcome } from "./host.ts";
import { print, printError, style, watchOutput } from "./output.ts";
import { describeMissing } from "./missingOptions.ts";
import { readArguments, type RawArguments } from "./parseArguments.ts";

/** A command: its definition and its handler, which is loaded when it runs. `H` is the host that the handler needs. */
export interface Command<H extends Host = Host> extends Definition {
  readonly load: () => Promise<{ default: (args: never, host: H) => Promise<Outcome | undefined> }>;
}

/** Joins a definition and its handler. */
export function defineCommand<const D extends Definition, H extends Host>(
  definition: D,
  load: () => Promise<{ default: (args: Parsed<D>, host: H) => Promise<Outcome | undefined> }>,
): Command<H> {
  return { ...definition, load };
}

/**
 * Runs a command and prints its outcome or its error: text, or one JSON object with `--json`. Outcomes and JSON go to
 * standard output, errors as text to standard error. Sets the exit code.
 */
export async function runCommand<H extends Host>(command: Command<H>, raw: RawArguments, host: H): Promise<void> {
  watchOutput();
  const json = raw["json"] === true;
  try {
    checkAllBuiltins();
    checkVariables(host.environment);
    const args = await checkedArguments(command, raw, host);
    const { default: handle } = await command.load();
    const outcome = await handle(args as never, host);
    if (outcome !== undefined) print(json ? JSON.stringify(outcome.json) : outcome.text);
  } catch (error) {
    // A later failure does not replace the exit code of a false statement.
    if (process.exitCode !== EXIT.false) process.exitCode = exitCodeOf(error);
    printFailure(error, { json, showStackTraces: host.showStackTraces });
  }
}

/** Parses the arguments. @throws ArgumentError ARGUMENT_INVALID with everything that is invalid, contradictory or missing */
async function checkedArguments<D extends Definition>(
  definition: D,
  raw: RawArguments,
  host: Host,
): Promise<Parsed<D>> {
  const { args, invalid, problems } = readArguments(definition, raw, host.environment);
  const needs = (given: Readonly<Record<string, unknown>>) =>
    definition.needs?.(given).filter((name) => !invalid.has(name)) ?? [];
  const missing = await describeMissing({ ...definition, needs }, args, host);
  const all = [...problems, ...(missing === undefined ? [] : [missing])];
  if (all.length > 0) throw new ArgumentError("ARGUMENT_INVALID", all.join(" "));
  return args;
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
