/**
 * Works on items, so many at once, and takes the next one only when a lane is free. The first failure ends it: what is
 * under way is waited for, nothing further is begun.
 * @param work is told the lane, 0 to `lanes` - 1, in which it runs alone
 */
export async function eachAtOnce<T>(
  items: Iterable<T>,
  lanes: number,
  work: (item: T, lane: number) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let failed = false;
  const run = async (lane: number) => {
    for (let next = rest.next(); next.done !== true && !failed; next = rest.next()) await work(next.value, lane);
  };
  const ended = await Promise.allSettled(
    Array.from({ length: lanes }, async (_, lane) => {
      try {
        await run(lane);
      } catch (error) {
        failed = true;
        throw error;
      }
    }),
  );
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}
