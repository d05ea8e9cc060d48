import { ArgumentError } from "keyroot/internal/errors";
import { describeValue } from "keyroot/internal/input";
import {
  type Definition,
  type IntegerOption,
  type Option,
  optionName,
  type Parsed,
  type TextOption,
} from "./defineCommand.ts";

/** The options and arguments of a command line, by `rawName`. A value is text, a boolean or a list of texts. */
export type RawArguments = Readonly<Record<string, unknown>>;

/**
 * Returns the key of an option in the results of Hardhat and commander. Both libraries convert `--biz-id` to `bizId`,
 * not to `bizID`.
 */
export const rawName = (name: string) => name.replace(/ID$/, "Id");

interface Read<D extends Definition> {
  /** The parsed arguments. Invalid options are omitted. */
  args: Parsed<D>;
  /** The names of the invalid options. */
  invalid: ReadonlySet<string>;
  problems: readonly string[];
}

/**
 * Checks the values of all options, and applies variables and defaults. The program `keyroot` and the Hardhat plugin both use
 * this function.
 * @param environment the environment variables, which replace missing options
 */
export function readArguments<D extends Definition>(
  { argument, options }: D,
  raw: RawArguments,
  environment: NodeJS.ProcessEnv,
): Read<D> {
  const parsed: Record<string, unknown> = {};
  const isSet = (name: string) => raw[rawName(name)] !== undefined && raw[rawName(name)] !== false;
  const { excluded, problems } = excludedBy(options, isSet);
  const invalid = new Set<string>();
  for (const [name, option] of Object.entries(options)) {
    const { variable = "" } = option;
    const value = raw[rawName(name)];
    const isGiven = option.kind === "flag" ? value === true : value !== undefined;
    const fallback = excluded.has(name) ? "" : (environment[variable] ?? "");
    try {
      if (isGiven || fallback === "") parsed[name] = parseOption(optionName(name), option, value);
      else if (option.kind === "flag") parsed[name] = parseTrue(variable, fallback);
      else parsed[name] = parseOption(variable, option, fallback);
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      invalid.add(name);
      problems.push(error.message);
    }
  }
  if (argument !== undefined) parsed[argument.name] = raw[argument.name];
  return { args: parsed as Parsed<D>, invalid, problems };
}

/** Finds the options that are excluded by given options, and describes conflicts between given options. */
function excludedBy(options: Definition["options"], isGiven: (name: string) => boolean) {
  const excluded = new Set<string>();
  const problems: string[] = [];
  for (const [name, { excludes = [] }] of Object.entries(options)) {
    for (const other of excludes) {
      const describe = (one: string, another: string) =>
        `${optionName(one)} cannot be used with ${optionName(another)}. Use only one of them.`;
      // Report each conflict once, even if both options list each other in `excludes`.
      if (isGiven(name) && isGiven(other) && !problems.includes(describe(other, name)))
        problems.push(describe(name, other));
      if (isGiven(name)) excluded.add(other);
      if (isGiven(other)) excluded.add(name);
    }
  }
  return { excluded, problems };
}

function parseOption(name: string, option: Option, value: unknown): unknown {
  if (option.kind === "flag") return value === true;
  if (value === undefined) return option.default;
  if (typeof value !== "string") throw new TypeError(`${name} is not text: ${describeValue(value)}.`);
  return option.kind === "integer" ? parseInteger(name, option, value) : parseText(name, option, value);
}

function parseTrue(variable: string, value: string): true {
  if (value === "true") return true;
  throw new ArgumentError("ARGUMENT_INVALID", `${variable} must be true or unset, not ${describeValue(value)}.`);
}

function parseInteger(name: string, { min, max }: IntegerOption, value: string): number {
  const number = /^-?\d{1,15}$/.test(value) ? Number(value) : NaN;
  if (number >= min && number <= (max ?? Infinity)) return number;
  const range = max === undefined ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new ArgumentError("ARGUMENT_INVALID", `${name} must be a whole number ${range}, not ${describeValue(value)}.`);
}

function parseText(name: string, { choices }: TextOption, value: string): string {
  if (choices === undefined || choices.includes(value)) return value;
  const allowed = new Intl.ListFormat("en", { type: "disjunction" }).format(choices);
  throw new ArgumentError("ARGUMENT_INVALID", `${name} must be ${allowed}, not ${describeValue(value)}.`);
}
