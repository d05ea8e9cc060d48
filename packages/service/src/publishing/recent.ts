/** Maximum age of a reused result, in ms. */
const MAX_AGE_MS = 30_000;

/**
 * Runs an asynchronous check at most once per 30 seconds. Calls in between get the same result, so that many calls
 * cause few checks.
 * @param now returns milliseconds since 1970
 */
export function recent<Result>(check: () => Promise<Result>, now: () => number): () => Promise<Result> {
  let last: { at: number; result: Promise<Result> } | undefined;
  return () => {
    if (last === undefined || Math.abs(now() - last.at) > MAX_AGE_MS) {
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
