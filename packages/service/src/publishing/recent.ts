/** Maximum age of a repeated answer, in ms. */
const MAX_AGE_MS = 30_000;

/**
 * Repeats an asynchronous check at most every half minute. Callers in between get the same result, so that many callers cause
 * few checks.
 * @param now returns milliseconds since 1970
 */
export function recent<Result>(check: () => Promise<Result>, now: () => number): () => Promise<Result> {
  let last: { at: number; result: Promise<Result> } | undefined;
  return () => {
    if (last === undefined || Math.abs(now() - last.at) > MAX_AGE_MS) {
      const started = { at: now(), result: check() };
      last = started;
      // The next call repeats a failed check.
      started.result.catch(() => {
        if (last === started) last = undefined;
      });
    }
    return last.result;
  };
}
