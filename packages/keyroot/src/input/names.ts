import { ArgumentError } from "../errors.ts";
import { describeValue } from "./describeValue.ts";
import { unknownName } from "./options.ts";

/**
 * Refuses options with other names: a misspelt option would have no effect, and could weaken what the caller requires.
 * @param what begins the message: "The options"
 * @throws ArgumentError ARGUMENT_INVALID, with the nearest name in `expected`
 */
export function checkNames<T extends object>(what: string, options: T, names: readonly string[]): T {
  const name = unknownName(options, names);
  if (name === undefined) return options;
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? `Known are ${names.join(", ")}.` : `Did you mean ${nearest}?`;
  const message = `${what} contain the unknown option ${describeValue(name)}. ${hint}`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { expected: nearest, actual: name });
}

/** The most similar name, if it differs in at most a third of its letters, or two; upper and lower case count as equal. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  // No option is that long, and the time grows with the length.
  if (name.length > 64) return undefined;
  for (const known of names) {
    const distance = editDistance(name.toLowerCase(), known.toLowerCase());
    if (distance >= least || distance > Math.max(2, known.length / 3)) continue;
    [nearest, least] = [known, distance];
  }
  return nearest;
}

/** How many letters to insert, delete or replace (Levenshtein distance). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
