import { useEffect, useState } from "preact/hooks";

/**
 * Calls a worker, and repeats the call each time an input changes.
 * @param run calls the worker with a signal that ends the call
 * @returns the call's result, which is undefined until the call ends, and a function that repeats the call. `defect` is
 *   an error that prevented the worker from running
 */
export function useWorkerCall<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
  inputs: readonly unknown[] = [],
): [result: Result | { defect: string } | undefined, retry: () => void] {
  const [result, setResult] = useState<Result | { defect: string }>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const set = (ended: Result | { defect: string }) => {
      if (!signal.aborted) setResult(() => ended);
    };
    setResult(undefined);
    run(signal).then(set, (error: unknown) => {
      set({ defect: String(error) });
    });
    return () => {
      controller.abort();
    };
  }, [...inputs, attempt]);
  const retry = () => {
    setAttempt(attempt + 1);
  };
  return [result, retry];
}
