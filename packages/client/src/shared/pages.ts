import { TransportError } from "../errors.ts";
import { checkInteger } from "keyroot/internal/input";
import { type Check, list, nullable, object, text } from "./answers.ts";
import type { OperationClient } from "./operationClient.ts";
import type { OperationPath } from "./operations.ts";
import { type CallOptions, checkCallOptions } from "./options.ts";

/** The options of every operation that lists items. */
export interface PageOptions extends CallOptions {
  /** The number of items per request, from 1 to 1,000. Default: 100. */
  pageSize?: number | undefined;
  /** The id of an item. The list begins after this item. Default: the list begins with the first item. */
  after?: string | undefined;
}

export interface ListPage<Item> {
  items: Item[];
  /** The value of `after` for the next page. Null on the last page. */
  next: string | null;
}

/** Checks the value that requests the next page: the id of an item, or an opaque text. */
const next = nullable(text(/^[\x21-\x7e]{1,1000}$/));

/**
 * Makes a function that checks the pages of a list.
 * @param field the field of the response that contains the items
 */
export function page<Item>(field: string, item: Check<Item>) {
  return (answer: unknown, limit: number): ListPage<Item> => {
    const check = object<Record<string, Item[] | string | null>>({ [field]: list(item, limit), next });
    const checked = check("answer", answer);
    return { items: checked[field] as Item[], next: checked["next"] as string | null };
  };
}

/** The requests and checks for the pages of a list. */
interface PagedList<Item> {
  /** Makes the body of the first request, or throws an error if the caller's arguments are invalid. */
  fields: () => { after: string | undefined };
  read: (answer: unknown, limit: number) => ListPage<Item>;
  /** The names of the operation's options that `PageOptions` does not have. */
  names?: readonly string[];
  /** True if pages before the last page may be empty. Default: false. */
  mayBeEmpty?: boolean;
}

/**
 * Iterates over the items of a list that the service returns in pages. Each page is requested only when the caller
 * needs it.
 * @throws ArgumentError ARGUMENT_INVALID
 * @throws TransportError SERVICE_ANSWER_INVALID
 * @throws the errors of `operationCaller`
 */
export async function* iteratePages<Item>(
  { send }: OperationClient,
  path: OperationPath,
  { fields, names = [], mayBeEmpty = false, read }: PagedList<Item>,
  options: PageOptions,
): AsyncGenerator<Item, void, undefined> {
  const all = ["pageSize", "after", ...names] as (keyof PageOptions)[];
  const { pageSize = 100, signal } = checkCallOptions(options, ...all);
  const limit = checkInteger("The pageSize option", pageSize, 1, 1000);
  const { after: first, ...others } = fields();
  let after = first;
  for (;;) {
    const body = { ...others, limit, ...(after !== undefined && { after }) };
    const { items, next } = read(await send(path, body, { signal }), limit);
    yield* items;
    if (next === null) return;
    if (next === after || (items.length === 0 && !mayBeEmpty)) {
      throw new TransportError(
        "SERVICE_ANSWER_INVALID",
        `The service's responses to ${path} do not advance to the next page.`,
      );
    }
    after = next;
  }
}
