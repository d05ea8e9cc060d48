/** Maximum number of printed users or roots. `--json` prints all. */
const SHOWN = 20;

/**
 * Returns the first items of a list as lines of text, and a last line with the number of further items.
 * @param what the text after each item
 */
export function listed(what: string, all: readonly string[]): string[] {
  const rest = all.length - SHOWN;
  return [
    ...all.slice(0, SHOWN).map((one) => `${one}  ${what}`),
    ...(rest > 0 ? [`… and ${rest} more. Use --json to list all.`] : []),
  ];
}
