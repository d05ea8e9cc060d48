export { MAX_INT32, MAX_TIMER_SECONDS } from "../shared/limits.ts";

/**
 * The types of command definitions. Both hosts are generated from definitions. Definitions import nothing, so help is fast.
 */

interface OptionBase {
  readonly description: string;
  /** Environment variable that is used if the option is not given. */
  readonly variable?: string;
  /** The default in words, if the command computes it. */
  readonly defaultText?: string;
  /** Names of options that cannot be given together with this one. Each excludes the variable of the other, too. */
  readonly excludes?: readonly string[];
}

/** An option that takes text: `--files DIR`. */
export interface TextOption extends OptionBase {
  readonly kind: "text";
  /** Name of the value in the help: `file`, `url`. */
  readonly value: string;
  /** The only texts that are accepted. */
  readonly choices?: readonly string[];
  readonly default?: string;
}

/** An option that takes a whole number: `--timeout 600`. */
export interface IntegerOption extends OptionBase {
  readonly kind: "integer";
  /** Name of the value in the help: `seconds`. */
  readonly value: string;
  readonly min: number;
  readonly max?: number;
  readonly default?: number;
}

/** An option without a value: `--json`. Its variable is `true`, or unset. */
export interface FlagOption extends OptionBase {
  readonly kind: "flag";
}

/** An option of a command. */
export type Option = TextOption | IntegerOption | FlagOption;

/** A value after the command's name, without an option's name: `verify USER`. A command has one at most. */
interface Argument {
  readonly name: string;
  readonly description: string;
  /** `many` takes one or more. */
  readonly kind: "required" | "optional" | "many";
}

/** A command's summary, argument and options. Both hosts declare it from this. */
export interface Definition {
  /** One line, in the imperative, without a full stop. */
  readonly summary: string;
  readonly argument?: Argument;
  /** The options by their names in code: `usersPerFile` is `--users-per-file` on the command line. */
  readonly options: Readonly<Record<string, Option>>;
  /**
   * The options that the command needs with these arguments, by their names in code. The local stack provides the options
   * for its chain. All missing options are reported at once.
   */
  readonly needs?: (given: Readonly<Record<string, unknown>>) => readonly string[];
}

type ValueOf<O extends Option> = O extends FlagOption
  ? boolean
  : O extends IntegerOption
    ? number | (O extends { default: number } ? never : undefined)
    : | (O extends { choices: readonly (infer Choice)[] } ? Choice : string)
      | (O extends { default: string } ? never : undefined);

type ArgumentOf<A> = A extends { name: infer Name extends string; kind: infer Kind }
  ? Record<Name, Kind extends "many" ? string[] : Kind extends "required" ? string : string | undefined>
  : unknown;

/** The arguments of a command's handler: every option, with its default if it has one. */
export type Parsed<D extends Definition> = {
  [Name in keyof D["options"]]: ValueOf<D["options"][Name]>;
} & ArgumentOf<D["argument"]>;

/** The name of an option on the command line, `usersPerFile` as `--users-per-file`, `bizID` as `--biz-id`. */
export function optionName(name: string): string {
  return `--${name.replace(/ID$/, "Id").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** An option's description with its choices, variable and default, for every help text. */
export function describeOption(option: Option): string {
  const notes = [
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
export const flag = (description: string, rest?: { variable?: string; excludes?: readonly string[] }) =>
  ({ kind: "flag", description, ...rest }) as const;
/** The option `--json`, which all commands with output have. */
export const json = flag("Print one JSON object instead of text");

/** The options of every command that reads a chain. */
export const chainOptions = {
  rpc: text("url", "JSON-RPC endpoint of the chain", { variable: "KEYROOT_RPC_URL" }),
  chainId: integer("id", "Chain id that the endpoint must have", { min: 1, variable: "KEYROOT_CHAIN_ID" }),
  allowHttp: flag("Allow plain http to other machines than this one", { variable: "KEYROOT_ALLOW_HTTP" }),
};
