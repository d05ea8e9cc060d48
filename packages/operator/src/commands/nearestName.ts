/**
 * Finds the most similar name, ignoring upper and lower case. Up to two letters, or a third of the letters, may differ.
 * If no name is that similar, it returns undefined.
 */
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

/** Counts the letters that only one of two names contains, in any order. */
function differenceOf(a: string, b: string): number {
  let missing = 0;
  for (const letter of a) {
    const rest = b.replace(letter, "");
    if (rest === b) missing++;
    b = rest;
  }
  return Math.max(missing, b.length);
}
