/** Maximum printed users and roots. `--json` prints all. */
const SHOWN = 20;

/** Returns the first items of a list as lines of text. @param what the text after each item */
export function listed(what: string, all: readonly string[]): string[] {
  const rest = all.length - SHOWN;
  return [
    ...all.slice(0, SHOWN).map((one) => `${one}  ${what}`),
    ...(rest > 0 ? [`… and ${rest} more; --json lists all.`] : []),
  ];
}
