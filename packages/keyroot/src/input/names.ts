import { ArgumentError } from "../errors.ts";
import { describeValue } from "./describeValue.ts";

/**
 * Refuses options with other names: a misspelt option would have no effect, and could weaken what the caller requires.
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

/** How many letters of one name the other one lacks, in any order. */
function differenceOf(a: string, b: string): number {
  let missing = 0;
  for (const letter of a) {
    const rest = b.replace(letter, "");
    if (rest === b) missing++;
    b = rest;
  }
  return Math.max(missing, b.length);
}
