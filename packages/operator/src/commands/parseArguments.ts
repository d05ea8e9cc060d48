import { ArgumentError, argumentInvalid } from "../errors.ts";
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
 * Returns the key under which Hardhat and commander return an option: both convert `--biz-id` to `bizId`, not to
 * `bizID`.
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
 * Checks the values of all options, for the program `keyroot` and the Hardhat plugin. Missing options get their values
 * from environment variables or defaults.
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
  if (argument !== undefined) {
    const { name, choices } = argument;
    const value = (parsed[name] = raw[name]);
    if (choices !== undefined && !choices.includes(value as string)) {
      invalid.add(name);
      problems.push(`The ${name} must be ${oneOf(choices)}, not ${describeValue(value)}.`);
    }
  }
  // The options that choose a mode come before those that need one.
  const entries = Object.entries(options).toSorted(([, a], [, b]) => modesOf(a) - modesOf(b));
  for (const [name, option] of entries) {
    const { variable = "" } = option;
    const value = raw[rawName(name)];
    const isGiven = option.kind === "flag" ? value === true : value !== undefined;
    const other = otherMode(option, parsed, invalid);
    if (other !== undefined && isGiven && !excluded.has(name))
      problems.push(`${optionName(name)} ${describeMode(other, argument?.name)}`);
    const isUseless = excluded.has(name) || other !== undefined;
    const fallback = isUseless ? "" : (environment[variable] ?? "");
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
  return { args: parsed as Parsed<D>, invalid, problems };
}

/** What makes an option useless: another option or argument, its value, and the values that it should have. */
interface OtherMode {
  name: string;
  value: unknown;
  needed: true | readonly string[];
}

/** Returns the number of other options or arguments that decide whether an option has an effect. */
function modesOf({ onlyWith = {} }: Option): number {
  return Object.keys(onlyWith).length;
}

/** Returns why an option has no effect with the given values. Undefined if it has an effect. */
function otherMode(
  { onlyWith = {} }: Option,
  values: Readonly<Record<string, unknown>>,
  invalid: ReadonlySet<string>,
): OtherMode | undefined {
  return Object.entries(onlyWith)
    .map(([name, needed]) => ({ name, value: values[name], needed }))
    .find(({ name, value, needed }) => {
      if (invalid.has(name)) return false;
      return needed === true ? !value : !needed.includes(String(value).split(":", 1)[0] ?? "");
    });
}

function describeMode({ name, value, needed }: OtherMode, argument: string | undefined): string {
  if (needed === true) return `has no effect without ${optionName(name)}.`;
  const [setting = ""] = String(value).split(":", 1);
  return name === argument
    ? `has no effect with the ${name} ${setting}. It is an option of ${needed.join(", ")}.`
    : `has no effect with ${optionName(name)} ${setting}. It is a setting of ${optionName(name)} ${needed.join(", ")}.`;
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
  throw argumentInvalid(`${variable} must be true or unset, not ${describeValue(value)}.`);
}

function parseInteger(name: string, { min, max }: IntegerOption, value: string): number {
  const number = /^-?\d{1,15}$/.test(value) ? Number(value) : NaN;
  if (number >= min && number <= (max ?? Infinity)) return number;
  const range = max === undefined ? `of ${min} or more` : `from ${min} to ${max}`;
  throw argumentInvalid(`${name} must be a whole number ${range}, not ${describeValue(value)}.`);
}

function parseText(name: string, { choices }: TextOption, value: string): string {
  if (choices === undefined || choices.includes(value)) return value;
  throw argumentInvalid(`${name} must be ${oneOf(choices)}, not ${describeValue(value)}.`);
}

function oneOf(choices: readonly string[]): string {
  return new Intl.ListFormat("en", { type: "disjunction" }).format(choices);
}
