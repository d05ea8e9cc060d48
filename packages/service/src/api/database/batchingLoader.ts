import DataLoader from "dataloader";

/** Maximum number of items per statement. */
const MAX_BATCH = 100;
/** Maximum number of concurrent statements per loader. */
const MAX_RUNNING = 2;

/**
 * Turns a function that loads many items into one that loads a single item. A busy service then sends one statement for
 * many requests.
 *
 * All calls within one turn of the event loop share a statement. While `MAX_RUNNING` statements run, further calls wait
 * and share the next one. Results are not cached, and the statement always starts after the call, so the result is
 * current.
 * @param load MUST return one result per item, in the order of the items
 */
export function batchingLoader<Item, Result>(
  load: (items: readonly Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const sendNext = () => {
    const send = running < MAX_RUNNING ? waiting.shift() : undefined;
    if (send === undefined) return;
    running++;
    setImmediate(send);
  };
  const loader = new DataLoader(
    async (items: readonly Item[]) => {
      try {
        return await load(items);
      } finally {
        running--;
        sendNext();
      }
    },
    {
      cache: false,
      maxBatchSize: MAX_BATCH,
      batchScheduleFn: (send) => {
        waiting.push(send);
        sendNext();
      },
    },
  );
  return (item) => loader.load(item);
}
