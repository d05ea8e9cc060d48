/** Runs work for each item, for at most `count` items at the same time. Ends with the first error. */
export async function forEachAtOnce<T>(count: number, items: Iterable<T>, work: (item: T) => Promise<void>) {
  // The workers share one iterator. This replaces p-map, which would make apps 1 kB larger.
  const queue = items[Symbol.iterator]();
  const run = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await work(next.value);
  };
  const workers: Promise<void>[] = [];
  for (let i = 0; i < count; i++) workers.push(run());
  await Promise.all(workers);
}
