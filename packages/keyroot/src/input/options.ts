import { ArgumentError } from "../errors.ts";
import { describeValue, isBytes, isObject } from "./values.ts";

/**
 * Checks for the arguments of public functions. They are necessary because programs in plain JavaScript can pass any
 * value. Each check returns the value, or throws ArgumentError ARGUMENT_INVALID with the expected and the actual value.
 * The error message begins with `what`, such as "The chainId option".
 */

/** Maximum timeout in ms. setTimeout stores the time in 31 bits (HTML Living Standard, section 8.6). */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Makes the error for an invalid argument. Do not pass a secret, because the message contains the value. */
export function invalidArgument(what: string, expected: string, actual: unknown): ArgumentError {
  const shown = describeValue(actual);
  return new ArgumentError("ARGUMENT_INVALID", `${what} must be ${expected}, but is ${shown}.`, {
    expected,
    actual: shown,
  });
}

/** Checks that a value is an object. @param expected describes the object, for the error message */
export function checkObject<T extends object>(what: string, value: T, expected = "an object"): T {
  if (isObject(value)) return value;
  throw invalidArgument(what, expected, value);
}

/**
 * Checks that a value is a text, and that it matches `form` if there is one.
 * @param expected describes the form, for the error message
 */
export function checkText(what: string, value: unknown, expected = "a text", form?: RegExp): string {
  // The type is checked first, because `form.test` converts an array to text.
  if (typeof value === "string" && form?.test(value) !== false) return value;
  throw invalidArgument(what, expected, value);
}

/** Checks that a value is a whole number from `min` to `max`. */
export function checkInteger(what: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  throw invalidArgument(what, `a whole number ${range}`, value);
}

/** Checks a chain id (EIP-155). Also accepts a bigint, which Ethereum libraries use. */
export function checkChainId(what: string, value: unknown): number {
  return checkInteger(what, typeof value === "bigint" ? Number(value) : value, 1);
}

/**
 * Checks that a value is `true` or `false`. Other values are rejected, because in a condition, even the text "false"
 * counts as true.
 */
export function checkBoolean(what: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw invalidArgument(what, "true or false", value);
}

export function checkBytes(what: string, value: Uint8Array): Uint8Array {
  if (isBytes(value)) return value;
  throw invalidArgument(what, "a Uint8Array", value);
}

export function checkFunction<T>(what: string, value: T): T {
  if (typeof value === "function") return value;
  throw invalidArgument(what, "a function", value);
}

export function checkSignal(what: string, value: AbortSignal): AbortSignal {
  // `instanceof` rejects a signal from another window.
  if (Object.prototype.toString.call(value) === "[object AbortSignal]") return value;
  throw invalidArgument(what, "an AbortSignal", value);
}

/** Runs a check unless the value is undefined. */
export function optional<T>(check: (what: string, value: T) => T, what: string, value: T | undefined): T | undefined {
  return value === undefined ? undefined : check(what, value);
}

/**
 * Checks that options are an object, and rejects unknown names. Otherwise, a misspelled option would have no effect,
 * and a check that the caller asked for would not be made.
 * @param what the start of the error message, such as "The options"
 * @param expected describes the object, for the error message
 * @throws ArgumentError ARGUMENT_INVALID, with the valid names in `expected`
 */
export function checkNames<T extends object>(
  what: string,
  options: T,
  names: readonly string[],
  expected = "an object",
): T {
  const known = new Set(names);
  for (const name of Object.keys(checkObject(what, options, expected))) {
    if (known.has(name)) continue;
    const expected = names.join(", ");
    const message = `${what} contain the unknown option ${describeValue(name)}. Valid options are ${expected}.`;
    throw new ArgumentError("ARGUMENT_INVALID", message, { expected, actual: name });
  }
  return options;
}
