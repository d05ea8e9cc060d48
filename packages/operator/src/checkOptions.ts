import { argumentInvalid } from "./errors.ts";
import { checkAllBuiltins, checkNames, describeValue, isObject } from "keyroot/internal/input";

/**
 * Rejects options with unknown names, because a misspelled option would otherwise be ignored without an error.
 * @param what the beginning of the message, such as "The options of publish"
 * @param names the names of all options; the compiler reports a missing name
 * @throws ArgumentError ARGUMENT_INVALID, with the valid names in `expected`; BUILTIN_REPLACED, before any other check
 */
export function checkOptions<T extends object>(what: string, options: T, names: Record<keyof T, true>): T {
  checkAllBuiltins();
  if (isObject(options)) return checkNames(what, options, Object.keys(names));
  throw argumentInvalid(`${what} must be an object, not ${describeValue(options)}.`);
}
