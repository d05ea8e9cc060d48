/**
 * What a command's definition may contain. Both hosts, the program `keyroot` and Hardhat, are generated from definitions,
 * so importing one must be cheap: definitions import nothing.
 */

/** An option that takes text: `--out DIR`. */
export interface TextOption {
  readonly kind: "text";
  /** What the help shows in place of the value: `file`, `url`. */
  readonly value: string;
  readonly description: string;
  /** The only texts that are accepted. */
  readonly choices?: readonly string[];
  readonly default?: string;
}

/** An option that takes a whole number: `--timeout 600`. */
export interface IntegerOption {
  readonly kind: "integer";
  /** What the help shows in place of the value: `seconds`. */
  readonly value: string;
  readonly description: string;
  readonly min: number;
  readonly max?: number;
  readonly default?: number;
}

/** An option without a value: `--json`. */
interface FlagOption {
  readonly kind: "flag";
  readonly description: string;
}

export type Option = TextOption | IntegerOption | FlagOption;

/** What stands after a command's name without an option's name: `verify USER`. A command has one at most. */
interface Argument {
  readonly name: string;
  readonly description: string;
  /** `many` takes one or more. */
  readonly kind: "required" | "optional" | "many";
}

/** A command as its hosts declare it: what it does, its argument and its options. */
export interface Definition {
  /** One line, in the imperative, without a full stop. */
  readonly summary: string;
  readonly argument?: Argument;
  /** By their names in code: `usersPerFile` is `--users-per-file` on the command line. */
  readonly options: Readonly<Record<string, Option>>;
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

/** What a command's handler is given: every option, with its default where it has one. */
export type Parsed<D extends Definition> = {
  [Name in keyof D["options"]]: ValueOf<D["options"][Name]>;
} & ArgumentOf<D["argument"]>;

/** The name of an option on the command line, `usersPerFile` as `--users-per-file`. */
export function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** An option's description with its choices and its default, as every help text shows it. */
export function describeOption(option: Option): string {
  if (option.kind === "flag") return option.description;
  const notes = [
    ...(option.kind === "text" && option.choices !== undefined ? [option.choices.join(", ")] : []),
    ...(option.default === undefined ? [] : [`default: ${option.default}`]),
  ];
  return notes.length === 0 ? option.description : `${option.description} (${notes.join("; ")})`;
}
