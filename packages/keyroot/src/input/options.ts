import { ArgumentError } from "../errors.ts";
import { describeValue } from "./describeValue.ts";
import { isObject } from "./json.ts";

/**
 * Checks of what a caller passes to a function of this library: plain JavaScript can pass anything. Each check returns
 * the value, or throws ArgumentError ARGUMENT_INVALID with what must be there and what is. `what` begins the message:
 * "The option chainId".
 */

/** setTimeout counts with 31 bits (HTML Living Standard, section 8.6). */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The error for a value that cannot be used. The message shows the value: do not pass secrets. */
export function invalidArgument(what: string, expected: string, actual: unknown): ArgumentError {
  const message = `${what} must be ${expected}, but is ${describeValue(actual)}.`;
  return new ArgumentError("ARGUMENT_INVALID", message, { expected, actual: describeValue(actual) });
}

/** @param expected what the object must hold, for the message */
export function checkObject<T extends object>(what: string, value: T, expected = "an object"): T {
  if (isObject(value)) return value;
  throw invalidArgument(what, expected, value);
}

/** A text, of a certain form where one is given. @param expected describes the form, for the message */
export function checkText(what: string, value: unknown, expected = "a text", form?: RegExp): string {
  // Not `form.test` alone, which turns an array into text.
  if (typeof value === "string" && form?.test(value) !== false) return value;
  throw invalidArgument(what, expected, value);
}

/** A whole number from `min` to `max`. */
export function checkInteger(what: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  throw invalidArgument(what, `a whole number, ${range}`, value);
}

/** `true` or `false`: the text "false" would count as true in a condition. */
export function checkBoolean(what: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw invalidArgument(what, "true or false", value);
}

export function checkFunction<T>(what: string, value: T): T {
  if (typeof value === "function") return value;
  throw invalidArgument(what, "a function", value);
}

export function checkSignal(what: string, value: AbortSignal): AbortSignal {
  // Not instanceof: a signal may come from another window.
  if (Object.prototype.toString.call(value) === "[object AbortSignal]") return value;
  throw invalidArgument(what, "an AbortSignal", value);
}

/** Applies a check unless the value is undefined: the option then has its default, or none. */
export function optional<T>(check: (what: string, value: T) => T, what: string, value: T | undefined): T | undefined {
  return value === undefined ? undefined : check(what, value);
}
