import { TransportError } from "../errors.ts";
import { checkInteger } from "../input/options.ts";
import { type Check, list, nullable, object, uuid } from "./answers.ts";
import type { OperationClient } from "./operationClient.ts";
import type { OperationPath } from "./operations.ts";
import { type CallOptions, checkCallOptions } from "./options.ts";

/** Options of all lists. */
export interface PageOptions extends CallOptions {
  /** The number of items per request, 1 to 1,000. Default 100. */
  pageSize?: number | undefined;
  /** The id after which the list begins. Default: the first item. */
  after?: string | undefined;
}

/** One page of a list. */
export interface ListPage<Item> {
  items: Item[];
  /** The `after` of the next page; null on the last page. */
  next: string | null;
}

/**
 * The requests and checks of a list with pages.
 * @param field the field of the answer that has the items
 * @param next the check of the position after the page
 */
export function page<Item>(field: string, item: Check<Item>, next: Check<string> = uuid) {
  return (answer: unknown, limit: number): ListPage<Item> => {
    const check = object<Record<string, Item[] | string | null>>({ [field]: list(item, limit), next: nullable(next) });
    const checked = check("answer", answer);
    return { items: checked[field] as Item[], next: checked["next"] as string | null };
  };
}

/** How to request and check the pages of a list. */
interface PagedList<Item> {
  /** Makes the first request's body; it throws if the caller's arguments are invalid. */
  fields: () => { after: string | undefined };
  /** Checks an answer. */
  read: (answer: unknown, limit: number) => ListPage<Item>;
  /** The names of the operation's own options. */
  names?: readonly string[];
  /** Whether pages before the last one may have no items. Default false. */
  mayBeEmpty?: boolean;
}

/**
 * Requests the pages of a list one after the other, each when the caller needs its first item.
 * @throws ArgumentError ARGUMENT_INVALID; TransportError SERVICE_ANSWER_INVALID; and as `OperationCall`
 */
export async function* iteratePages<Item>(
  { send }: OperationClient,
  path: OperationPath,
  { fields, names = [], mayBeEmpty = false, read }: PagedList<Item>,
  options: PageOptions,
): AsyncGenerator<Item, void, undefined> {
  const all = ["pageSize", "after", ...names] as (keyof PageOptions)[];
  const { pageSize = 100, signal } = checkCallOptions(options, ...all);
  const limit = checkInteger("The option pageSize", pageSize, 1, 1000);
  const { after: first, ...others } = fields();
  let after = first;
  for (;;) {
    const body = { ...others, limit, ...(after !== undefined && { after }) };
    const { items, next } = read(await send(path, body, { signal }), limit);
    yield* items;
    if (next === null) return;
    if (next === after || (items.length === 0 && !mayBeEmpty)) {
      throw new TransportError("SERVICE_ANSWER_INVALID", `The service's answers to ${path} do not advance.`);
    }
    after = next;
  }
}
