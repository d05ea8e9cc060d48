import { withResolvers } from "keyroot/internal/engine";

/** Maximum time in ms that an incomplete group waits for the next item. */
const LINGER_MS = 20;

/** Groups a list's items. A group has at most `size` items, and fewer if the list is slow. */
export async function* inGroups<Item>(
  list: Iterable<Item> | AsyncIterable<Item>,
  size: number,
): AsyncGenerator<Item[], void, undefined> {
  const iterator = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]();
  let next: Promise<IteratorResult<Item, unknown>> | undefined;
  let ended = false;
  try {
    while (!ended) {
      const group: Item[] = [];
      const { promise: late, resolve } = withResolvers<undefined>();
      let timer: ReturnType<typeof setTimeout> | undefined;
      while (group.length < size && !ended) {
        next ??= Promise.resolve(iterator.next());
        const result = group.length === 0 ? await next : await Promise.race([next, late]);
        if (result === undefined) break;
        next = undefined;
        if (result.done === true) ended = true;
        else group.push(result.value);
        timer ??= setTimeout(resolve, LINGER_MS, undefined);
      }
      clearTimeout(timer);
      if (group.length > 0) yield group;
    }
  } finally {
    // The caller stopped iterating early, or the list threw an error.
    if (!ended) void iterator.return?.();
  }
}
