/** The program `keyroot`, with all commands that do not need Hardhat. `cli.ts` loads this module. */
import { Command, CommanderError, Option } from "commander";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type Command as KeyrootCommand, describeOption, optionName } from "./commands/defineCommand.ts";
import { EXIT } from "./commands/exitCodes.ts";
import type { Host } from "./commands/host.ts";
import { shellCommand } from "./commands/output.ts";
import { groupsWith, loadServiceCommands, SERVICE_HINT } from "./commands/commandTable.ts";

const words = () => process.argv.slice(2);

/**
 * The words that start this program again, in every folder: `npx keyroot`, or the program's path if it was started
 * without npm or npx.
 */
const PROGRAM = programOf(process.argv[1], process.env);

/** Runs the command in the process's arguments. */
export async function runProgram(): Promise<void> {
  const service = await loadServiceCommands();
  const program = new Command("keyroot")
    .description("Publish users' public keys, verify and audit them, and run the partner service.")
    .option("--show-stack-traces", "Print the stack traces of unexpected errors")
    .version(version(), "--version", "Print the version of @keyroot/operator")
    .helpOption("-h, --help", "Print the help of a command")
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({ writeErr: () => undefined })
    .exitOverride();
  for (const [heading, commands] of Object.entries(groupsWith(service)))
    for (const [name, command] of Object.entries(commands))
      program.addCommand(toCommand(program, name, command).helpGroup(`${heading}:`));
  try {
    if (words().length === 0) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const isUnknown = error.code === "commander.unknownCommand" && service === undefined;
    const hint = isUnknown ? `\n${SERVICE_HINT}` : suggestOption(program, error);
    // Commander also throws after it has printed help or the version.
    if (error.exitCode !== 0) await reject(`${error.message}${hint}`);
  }
}

/** Returns the environment of commands in this program. */
function hostOf(showStackTraces: boolean): Host {
  return {
    program: shellCommand(PROGRAM),
    invocation: [...PROGRAM, ...words()],
    root: process.cwd(),
    environment: process.env,
    showStackTraces,
    hasNetwork: false,
    networkUrl: () => Promise.resolve(undefined),
    connectNetwork: () => Promise.resolve(undefined),
  };
}

/** Converts a command of the table to a commander command. */
function toCommand(program: Command, name: string, command: KeyrootCommand): Command {
  const parser = new Command(name)
    .summary(command.summary)
    .description(`${command.summary}.`)
    .copyInheritedSettings(program)
    .helpOption("-h, --help", "Print this help");
  const { argument } = command;
  if (argument !== undefined) {
    const words = argument.kind === "many" ? `<${argument.name}...>` : `<${argument.name}>`;
    parser.argument(argument.kind === "optional" ? `[${argument.name}]` : words, argument.description);
  }
  for (const [name, option] of Object.entries(command.options)) {
    const flags = option.kind === "flag" ? optionName(name) : `${optionName(name)} <${option.value}>`;
    parser.addOption(new Option(flags, describeOption(option)));
    onlyOnce(parser, optionName(name));
  }
  return parser.action(async (...given: unknown[]) => {
    const value = argument === undefined ? {} : { [argument.name]: given[0] };
    const showStackTraces = program.opts()["showStackTraces"] === true;
    // Load this module on demand, so that the program prints help quickly.
    const { runCommand } = await import("./commands/runCommand.ts");
    await runCommand(command, { ...value, ...parser.opts() }, hostOf(showStackTraces));
  });
}

/** Rejects a repeated option. Commander would use the last value without a message. */
function onlyOnce(parser: Command, option: string): void {
  let isGiven = false;
  parser.on(`option:${option.slice(2)}`, () => {
    if (isGiven) parser.error(`option '${option}' is repeated`);
    isGiven = true;
  });
}

/**
 * Suggests the options of the command that contain the words of an unknown option, or whose words it contains, such as
 * `--expected-public-key` for `--public-key`. Commander itself suggests options with similar letters.
 */
function suggestOption(program: Command, { code, message }: CommanderError): string {
  const [, unknown] = /^error: unknown option '-(-[^'=]+)[^']*'$/.exec(message) ?? [];
  if (code !== "commander.unknownOption" || unknown === undefined) return "";
  const options = program.commands.find((command) => words().includes(command.name()))?.options ?? [];
  const similar = options.flatMap(({ long }) => {
    const known = long?.slice(1) ?? "";
    return `${known}-`.includes(`${unknown}-`) || `${unknown}-`.includes(`${known}-`) ? [`-${known}`] : [];
  });
  return similar.length === 0 ? "" : `\n(Did you mean ${similar.join(" or ")}?)`;
}

/** Prints commander's error in the same format as other invalid arguments. */
async function reject(message: string): Promise<void> {
  const [reason = "", ...hints] = message.replace(/^error: /, "").split("\n");
  const sentence = `${reason.charAt(0).toUpperCase()}${reason.slice(1).replace(/\.$/, "")}.`;
  const text = [sentence, ...hints, "Use --help to list commands and options."].join(" ");
  process.exitCode = EXIT.invalidArguments;
  const { printFailure } = await import("./commands/output.ts");
  const { ArgumentError } = await import("keyroot/internal/errors");
  printFailure(new ArgumentError("ARGUMENT_INVALID", text), {
    json: words().includes("--json"),
    showStackTraces: false,
  });
}

function programOf(path = "", { npm_command }: NodeJS.ProcessEnv): string[] {
  return npm_command === undefined && basename(path) === "keyroot" ? [path] : ["npx", "keyroot"];
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
