import DataLoader from "dataloader";

/** The most items of one statement. */
const MAX_BATCH = 100;

/**
 * Turns a function over many items into a function over one item: all calls within one turn of the event loop share a
 * statement, so a busy service sends the database one statement for many requests. Results are not cached; every item is
 * answered by a statement that began after its call.
 * @param load MUST return one result per item, in the order of the items
 */
export function batchingLoader<Item, Result>(
  load: (items: readonly Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const loader = new DataLoader(load, {
    cache: false,
    maxBatchSize: MAX_BATCH,
    batchScheduleFn: (send) => void setImmediate(send),
  });
  return (item) => loader.load(item);
}
