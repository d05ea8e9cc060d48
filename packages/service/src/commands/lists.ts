import { outputIsLost, print, printError } from "@keyroot/operator/commands";

/** Maximum number of printed users or roots. `--json` prints all. */
const SHOWN = 20;

/**
 * Returns the first items of a list as lines of text. The last line is the number of further items.
 * @param what the text after each item
 */
export function listed(what: string, all: readonly string[]): string[] {
  const rest = all.length - SHOWN;
  return [
    ...all.slice(0, SHOWN).map((one) => `${one}  ${what}`),
    ...(rest > 0 ? [`… and ${rest} more. Use --json to list all.`] : []),
  ];
}

/** Prints each item of a list on its own line, as JSON or as text. @param none the text for an empty list */
export async function printEach<Item>(
  items: AsyncIterable<Item>,
  json: boolean,
  describe: (item: Item) => string,
  none: string,
): Promise<undefined> {
  let isEmpty = true;
  for await (const item of items) {
    if (outputIsLost()) return;
    print(json ? JSON.stringify(item) : describe(item));
    isEmpty = false;
  }
  if (isEmpty && !json) printError(none);
}
