/** Maximum age of a reused result, in ms. */
const MAX_AGE_MS = 30_000;

/**
 * Repeats an asynchronous check only if the last result is too old. Other calls get the last result, so many calls
 * cause few checks.
 * @param now returns milliseconds since 1970
 */
export function recent<Result>(
  check: () => Promise<Result>,
  now: () => number,
  maxAgeMs = MAX_AGE_MS,
): () => Promise<Result> {
  let last: { at: number; result: Promise<Result> } | undefined;
  return () => {
    if (last === undefined || Math.abs(now() - last.at) > maxAgeMs) {
      const started = { at: now(), result: check() };
      last = started;
      // After a failed check, the next call checks again.
      started.result.catch(() => {
        if (last === started) last = undefined;
      });
    }
    return last.result;
  };
}
