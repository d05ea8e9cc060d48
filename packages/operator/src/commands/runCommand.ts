import { argumentInvalid } from "../errors.ts";
import { checkAllBuiltins } from "keyroot/internal/input";
import { checkVariables } from "./checkVariables.ts";
import { chainOptions, type Command, type Definition, keyType, type Parsed } from "./defineCommand.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";
import type { Host } from "./host.ts";
import { printFailure, printOutcome, watchOutput } from "./output.ts";
import { explainMissingPackage } from "./missingPackage.ts";
import { nameSettings } from "./nameSettings.ts";
import { describeMissing } from "./missingOptions.ts";
import { findStack } from "./stackFile.ts";
import { readArguments, type RawArguments } from "./parseArguments.ts";

/**
 * Runs a command, prints its result or error, and sets the exit code. With `--json`, it prints one JSON object to
 * standard output in both cases. Otherwise results go to standard output, and errors to standard error.
 */
export async function runCommand<H extends Host>(command: Command<H>, raw: RawArguments, host: H): Promise<void> {
  watchOutput();
  const json = raw["json"] === true;
  try {
    checkAllBuiltins();
    checkVariables(host.environment);
    const args = await checkedArguments(command, raw, host);
    const outcome = await command.run(args as never, host);
    if (outcome !== undefined) printOutcome(outcome, json);
  } catch (cause) {
    const error = nameSettings(explainMissingPackage(cause), command, raw, host.environment);
    // If a step after an alarm fails, keep the exit code for false data.
    if (process.exitCode !== EXIT.false) process.exitCode = exitCodeOf(error);
    printFailure(error, { json, showStackTraces: host.showStackTraces });
  }
}

/**
 * Returns the environment variables. A command for the registry of the running local stack also gets the stack's key
 * type, unless an option or a variable sets another one.
 */
async function withStackKeyType({ options }: Definition, raw: RawArguments, host: Host): Promise<NodeJS.ProcessEnv> {
  const { environment } = host;
  const { variable } = keyType;
  if (!("keyType" in options) || raw["keyType"] !== undefined || (environment[variable] ?? "") !== "")
    return environment;
  const rpc = raw["rpc"] ?? environment[chainOptions.rpc.variable];
  const { stack } = await findStack(host, typeof rpc === "string" ? rpc : undefined);
  const contract = raw["contract"] ?? environment["KEYROOT_CONTRACT"];
  const isOther = typeof contract === "string" && contract.toLowerCase() !== stack?.contract.toLowerCase();
  return stack?.keyType === undefined || isOther ? environment : { ...environment, [variable]: stack.keyType };
}

/**
 * Parses the arguments.
 * @throws ArgumentError ARGUMENT_INVALID; the message names every invalid, conflicting or missing option
 */
async function checkedArguments<D extends Definition>(
  definition: D,
  raw: RawArguments,
  host: Host,
): Promise<Parsed<D>> {
  const { args, invalid, problems } = readArguments(definition, raw, await withStackKeyType(definition, raw, host));
  const required = Object.entries(definition.options).flatMap(([name, option]) => (option.required ? [name] : []));
  const needed = [...required, ...(definition.needs?.(args) ?? [])].filter((name) => !invalid.has(name));
  const missing = await describeMissing(definition, needed, args, host);
  const all = [...problems, ...(missing === undefined ? [] : [missing])];
  if (all.length > 0) throw argumentInvalid(all.join(" "));
  return args;
}
