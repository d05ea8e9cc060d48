/**
 * Runs `work` for each item, for at most `count` items at the same time. After the first error, the promise is
 * rejected, and no more work is started.
 */
export async function forEachAtOnce<T>(count: number, items: Iterable<T>, work: (item: T) => Promise<void>) {
  // The workers share one iterator.
  const queue = items[Symbol.iterator]();
  let hasFailed = false;
  const run = async () => {
    for (let next = queue.next(); next.done !== true && !hasFailed; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const workers: Promise<void>[] = [];
  for (let i = 0; i < count; i++) workers.push(run());
  await Promise.all(workers);
}
