import { ArgumentError } from "keyroot/errors";
import { describeValue } from "keyroot/input";
import {
  type Definition,
  type IntegerOption,
  type Option,
  optionName,
  type Parsed,
  type TextOption,
} from "./definition.ts";

/** What a host has read from the command line: texts, flags and lists by the names of the definition. */
export type RawArguments = Readonly<Record<string, unknown>>;

/**
 * Checks the values of all options and fills in defaults, alike in both hosts.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parseArguments<D extends Definition>({ argument, options }: D, raw: RawArguments): Parsed<D> {
  const parsed: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) parsed[name] = parseOption(optionName(name), option, raw[name]);
  if (argument !== undefined) parsed[argument.name] = raw[argument.name];
  return parsed as Parsed<D>;
}

function parseOption(name: string, option: Option, value: unknown): unknown {
  if (option.kind === "flag") return value === true;
  if (value === undefined) return option.default;
  if (typeof value !== "string") throw new TypeError(`${name} is not text: ${describeValue(value)}.`);
  return option.kind === "integer" ? parseInteger(name, option, value) : parseText(name, option, value);
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
