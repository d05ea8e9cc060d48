import { ArgumentError } from "../errors.ts";
import { describeValue } from "./describeValue.ts";
import { isObject } from "./json.ts";

/**
 * Checks of the arguments that callers pass: plain JavaScript can pass any value. Each check returns the value, or throws
 * ArgumentError ARGUMENT_INVALID with the expected and the actual value. `what` begins the message: "The option chainId".
 */

/** setTimeout counts with 31 bits (HTML Living Standard, section 8.6). */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The error for a value that cannot be used. The message shows the value: do not pass secrets. */
export function invalidArgument(what: string, expected: string, actual: unknown): ArgumentError {
  const shown = describeValue(actual);
  return new ArgumentError("ARGUMENT_INVALID", `${what} must be ${expected}, but is ${shown}.`, {
    expected,
    actual: shown,
  });
}

/** An object. @param expected describes the object, for the message */
export function checkObject<T extends object>(what: string, value: T, expected = "an object"): T {
  if (isObject(value)) return value;
  throw invalidArgument(what, expected, value);
}

/** A text, of a certain form where one is given. @param expected describes the form, for the message */
export function checkText(what: string, value: unknown, expected = "a text", form?: RegExp): string {
  // `form.test` alone would turn an array into text.
  if (typeof value === "string" && form?.test(value) !== false) return value;
  throw invalidArgument(what, expected, value);
}

/** A whole number from `min` to `max`. */
export function checkInteger(what: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  throw invalidArgument(what, `a whole number, ${range}`, value);
}

/** A chain's id (EIP-155). Libraries for Ethereum have it as a bigint. */
export function checkChainId(what: string, value: unknown): number {
  return checkInteger(what, typeof value === "bigint" ? Number(value) : value, 1);
}

/** `true` or `false`: the text "false" would count as true in a condition. */
export function checkBoolean(what: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw invalidArgument(what, "true or false", value);
}

export function checkBytes(what: string, value: Uint8Array): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw invalidArgument(what, "a Uint8Array", value);
}

export function checkFunction<T>(what: string, value: T): T {
  if (typeof value === "function") return value;
  throw invalidArgument(what, "a function", value);
}

export function checkSignal(what: string, value: AbortSignal): AbortSignal {
  // `instanceof` would refuse a signal from another window.
  if (Object.prototype.toString.call(value) === "[object AbortSignal]") return value;
  throw invalidArgument(what, "an AbortSignal", value);
}

/** Applies a check unless the value is undefined: the option then has its default, or none. */
export function optional<T>(check: (what: string, value: T) => T, what: string, value: T | undefined): T | undefined {
  return value === undefined ? undefined : check(what, value);
}

/**
 * Refuses options with other names: a misspelt option would have no effect, and could weaken the caller's requirements.
 * @param what begins the message: "The options"
 * @throws ArgumentError ARGUMENT_INVALID, with the nearest name in `expected`
 */
export function checkNames<T extends object>(what: string, options: T, names: readonly string[]): T {
  const known = new Set(names);
  for (const name of Object.keys(options)) {
    if (known.has(name)) continue;
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? `Known are ${names.join(", ")}.` : `Did you mean ${nearest}?`;
    const message = `${what} contain the unknown option ${describeValue(name)}. ${hint}`;
    throw new ArgumentError("ARGUMENT_INVALID", message, { expected: nearest, actual: name });
  }
  return options;
}

/** The most similar name, if at most two letters differ, or a third of them; upper and lower case count as equal. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const known of names) {
    const difference = differenceOf(name.toLowerCase().slice(0, 64), known.toLowerCase());
    if (difference >= least || difference > Math.max(2, known.length / 3)) continue;
    [nearest, least] = [known, difference];
  }
  return nearest;
}

/** The number of letters that one name has and the other lacks, in any order. */
function differenceOf(a: string, b: string): number {
  let missing = 0;
  for (const letter of a) {
    const rest = b.replace(letter, "");
    if (rest === b) missing++;
    b = rest;
  }
  return Math.max(missing, b.length);
}
