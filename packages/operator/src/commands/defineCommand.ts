/**
 * Types and functions that define commands and their options, for both the program `keyroot` and the Hardhat plugin.
 * This file imports only types and the names of the key types, so that both print help quickly.
 */
import { KEY_TYPE_NAMES } from "keyroot/internal/keyTypeNames";
import type { Host, Outcome } from "./host.ts";

/** The largest signed 32-bit integer. */
export const MAX_INT32 = 2 ** 31 - 1;
/**
 * The longest time in seconds that a timer can wait. If a program asks for a longer time, Node waits only 1 ms (Node's
 * documentation of `setTimeout`).
 */
export const MAX_TIMER_SECONDS = Math.floor(MAX_INT32 / 1000);

interface OptionBase {
  readonly description: string;
  /** The environment variable with the value for a missing option. */
  readonly variable?: string;
  /** A description of the default value, if the command computes the default. */
  readonly defaultText?: string;
  /** True if the command always needs the option, even with a running local stack. */
  readonly required?: true;
  /**
   * Options that cannot be combined with this option. If the command line contains one of two such options, the
   * variable of the other option is ignored.
   */
  readonly excludes?: readonly string[];
  /**
   * The values that other options or arguments must have for this option to have an effect. True means any value except
   * 0. Only the part of a value before a colon is compared, such as `endpoints` in `endpoints:2`.
   *
   * If a value does not match, this option is rejected, because a user would rely on it in vain. Its variable is
   * ignored.
   */
  readonly onlyWith?: Readonly<Record<string, true | readonly string[]>>;
}

/** An option with text as its value, such as `--files DIR`. */
export interface TextOption extends OptionBase {
  readonly kind: "text";
  /** The placeholder for the value in help texts, such as `file` or `url`. */
  readonly value: string;
  /** The accepted values. Default: any text. */
  readonly choices?: readonly string[];
  readonly default?: string;
}

/** An option with a whole number as its value, such as `--timeout 600`. */
export interface IntegerOption extends OptionBase {
  readonly kind: "integer";
  /** The placeholder for the value in help texts, such as `seconds`. */
  readonly value: string;
  readonly min: number;
  readonly max?: number;
  readonly default?: number;
}

/** An option without a value, such as `--json`. Its variable must be `true` or unset. */
export interface FlagOption extends OptionBase {
  readonly kind: "flag";
}

/** An option of a command. */
export type Option = TextOption | IntegerOption | FlagOption;

/** A positional argument, such as the user id in `verify USER`. A command has at most one positional argument. */
interface Argument {
  readonly name: string;
  readonly description: string;
  /** `many` means one or more values. */
  readonly kind: "required" | "optional" | "many";
  /** The accepted values of a required argument. Default: any text. */
  readonly choices?: readonly string[];
}

/**
 * The summary, argument and options of a command. The program `keyroot` and the Hardhat plugin both build the command
 * from this definition.
 */
export interface Definition {
  /** One line that begins with an imperative verb and has no period. */
  readonly summary: string;
  readonly argument?: Argument;
  /** The options. The keys are the options' names in code, such as `usersPerFile` for `--users-per-file`. */
  readonly options: Readonly<Record<string, Option>>;
  /**
   * Returns the names of further options that the command needs, depending on the given options. One error lists all
   * that are missing. A running local stack may provide some of them.
   */
  readonly needs?: (given: Readonly<Record<string, unknown>>) => readonly string[];
}

type ValueOf<O extends Option> = O extends FlagOption
  ? boolean
  : | (O extends IntegerOption ? number : O extends { choices: readonly (infer Choice)[] } ? Choice : string)
    | (O extends { default: unknown } | { required: true } ? never : undefined);

type ArgumentOf<A> = A extends { name: infer Name extends string; kind: infer Kind }
  ? Record<
      Name,
      Kind extends "many"
        ? string[]
        : Kind extends "optional"
          ? string | undefined
          : A extends { choices: readonly (infer Choice)[] }
            ? Choice
            : string
    >
  : unknown;

/** The parsed arguments of a command: the given value or the default of every option. */
export type Parsed<D extends Definition> = {
  [Name in keyof D["options"]]: ValueOf<D["options"][Name]>;
} & ArgumentOf<D["argument"]>;

/** A command: its definition and its code. `H` is the type of the host that the code needs. */
export interface Command<H extends Host = Host> extends Definition {
  /** Does the work of the command. Returns undefined if it has already printed all output. */
  readonly run: (args: never, host: H) => Promise<Outcome | undefined>;
}

/**
 * Defines a command in one place: its help, options and code. The file with this call is loaded even for `--help`.
 * Therefore it should import only types and definitions, and load everything else inside `run`.
 */
export function command<const D extends Definition, H extends Host>(
  definition: D,
  run: (args: Parsed<D>, host: H) => Promise<Outcome | undefined>,
): D & Command<H> {
  return { ...definition, run };
}

/**
 * Converts the name of an option to its command-line form: `usersPerFile` to `--users-per-file`, `bizID` to `--biz-id`.
 */
export function optionName(name: string): string {
  return `--${name.replace(/ID$/, "Id").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Describes an option for help texts, with its choices, variable and default. */
export function describeOption(option: Option): string {
  const notes = [
    ...(option.required ? ["required"] : []),
    ...(option.kind === "text" && option.choices !== undefined ? [`choices: ${option.choices.join(", ")}`] : []),
    ...(option.variable === undefined ? [] : [`variable: ${option.variable}`]),
    ...(option.kind === "flag" || option.default === undefined ? [] : [`default: ${option.default}`]),
    ...(option.defaultText === undefined ? [] : [`default: ${option.defaultText}`]),
  ];
  return notes.length === 0 ? option.description : `${option.description} (${notes.join("; ")})`;
}

/** Defines an option that takes text. */
export const text = <const Rest extends object = object>(value: string, description: string, rest?: Rest) =>
  ({ kind: "text", value, description, ...rest }) as { kind: "text"; value: string; description: string } & Rest;
/** Defines an option that takes a whole number. */
export const integer = <const Rest extends Omit<IntegerOption, "kind" | "value" | "description">>(
  value: string,
  description: string,
  rest: Rest,
) => ({ kind: "integer", value, description, ...rest }) as const;
/** Defines an option without a value. */
export const flag = (
  description: string,
  rest?: Pick<FlagOption, "excludes" | "onlyWith"> & { readonly variable?: string },
) => ({ kind: "flag", description, ...rest }) as const;
/**
 * Returns a copy of the options in which each has an effect only in this mode. Modes that an option already requires
 * still apply. See `onlyWith` of `Option`.
 */
export function onlyWith<const Options extends Readonly<Record<string, Option>>>(
  mode: NonNullable<Option["onlyWith"]>,
  options: Options,
): Options {
  const entries = Object.entries(options);
  return Object.fromEntries(
    entries.map(([name, option]) => [name, { ...option, onlyWith: { ...option.onlyWith, ...mode } }]),
  ) as Options;
}
/** The option `--json` of all commands that print a result. */
export const json = flag("Print one JSON object instead of text");
/** The type of the registry's keys. It is configuration, and never read from data. */
export const keyType = text("type", "Type of the registry's public keys", {
  choices: KEY_TYPE_NAMES,
  default: "curve41417",
  variable: "KEYROOT_KEY_TYPE",
});

/** The options of every command that reads a chain. */
export const chainOptions = {
  rpc: text("url", "JSON-RPC endpoint of the chain", { variable: "KEYROOT_RPC_URL" }),
  chainId: integer("id", "Chain id that the endpoint must report", { min: 1, variable: "KEYROOT_CHAIN_ID" }),
  allowHttp: flag("Allow unencrypted http to other machines", { variable: "KEYROOT_ALLOW_HTTP" }),
};
