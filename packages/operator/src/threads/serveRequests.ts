import { parentPort, type Transferable } from "node:worker_threads";

export interface PoolRequest<Request> {
  id: number;
  request: Request;
}

/** The response of a thread: the result, or the error if the thread failed. */
export type PoolAnswer<Result> = { id: number } & ({ result: Result } | { error: unknown });

/**
 * Responds to the requests of a `WorkerPool` in a thread. Each response contains the id of its request.
 * @param transferred returns the parts of a result that are moved instead of copied. Default: none
 */
export function serveRequests<Result>(
  answer: (request: never) => Result | Promise<Result>,
  transferred: (result: Result) => Transferable[] = () => [],
): void {
  const port = parentPort;
  port?.on("message", ({ id, request }: PoolRequest<never>) => {
    Promise.resolve(request)
      .then(answer)
      .then(
        (result) => {
          port.postMessage({ id, result } satisfies PoolAnswer<Result>, transferred(result));
        },
        (error: unknown) => {
          port.postMessage({ id, error } satisfies PoolAnswer<Result>);
        },
      );
  });
}
