import { TransportError } from "../errors.ts";
import { checkInteger } from "../input/options.ts";
import { type CallOptions, checkCallOptions } from "./options.ts";

/** Options of all lists. */
export interface PageOptions extends CallOptions {
  /** How many items to request at once, 1 to 1,000. Default 100. */
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

/** How to request a list. */
export interface PagedList<Item> {
  operation: string;
  /** Makes the first request's body; it throws if the caller's arguments are invalid. */
  fields: () => { after: string | undefined };
  /** The names of the operation's own options. */
  names?: readonly string[];
  /** Whether pages before the last one may have no items. Default false. */
  mayBeEmpty?: boolean;
  request: (body: object, options: CallOptions) => Promise<unknown>;
  read: (answer: unknown, limit: number) => ListPage<Item>;
}

/**
 * Requests the pages of a list one after the other, each when the caller needs its first item.
 * @throws ArgumentError ARGUMENT_INVALID; TransportError SERVICE_ANSWER_INVALID; and as `request`
 */
export async function* iteratePages<Item>(
  { operation, fields, names = [], mayBeEmpty = false, request, read }: PagedList<Item>,
  options: PageOptions,
): AsyncGenerator<Item, void, undefined> {
  const all = ["pageSize", "after", ...names] as (keyof PageOptions)[];
  const { pageSize = 100, signal } = checkCallOptions(options, ...all);
  const limit = checkInteger("The option pageSize", pageSize, 1, 1000);
  const { after: first, ...others } = fields();
  let after = first;
  for (;;) {
    const body = { ...others, limit, ...(after !== undefined && { after }) };
    const { items, next } = read(await request(body, { signal }), limit);
    yield* items;
    if (next === null) return;
    if (next === after || (items.length === 0 && !mayBeEmpty)) {
      throw new TransportError("SERVICE_ANSWER_INVALID", `The service's answers to ${operation} do not advance.`);
    }
    after = next;
  }
}
