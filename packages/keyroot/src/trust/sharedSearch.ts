import { rejectOnAbort } from "../transport/timeout.ts";
import type { BlockRequest } from "./blockSource.ts";

type Search<T> = (request: BlockRequest) => Promise<T>;

/** A search, and the number of verifications that wait for its result. */
interface Running<T> {
  found: Promise<T>;
  waiting: number;
  ended: AbortController;
}

/**
 * Makes a search that concurrent verifications share. A host that does not respond then delays all of them together
 * only once. The search is aborted when no verification waits for it any more. All users of a contact list share one
 * result.
 */
export function sharedSearch<T>(search: Search<T>): Search<T> {
  const lists = new WeakMap<BlockRequest["calls"], Promise<T>>();
  let running: Running<T> | undefined;
  const start = (request: BlockRequest): Running<T> => {
    const ended = new AbortController();
    const found = search({ ...request, http: { ...request.http, signal: ended.signal } });
    const started = { found, waiting: 0, ended };
    const end = () => {
      if (running === started) running = undefined;
    };
    found.then(end, end);
    return (running = started);
  };
  const join = async (request: BlockRequest) => {
    const shared = running ?? start(request);
    shared.waiting++;
    try {
      return await rejectOnAbort(shared.found, request.http.signal);
    } finally {
      if (--shared.waiting === 0) {
        if (running === shared) running = undefined;
        shared.ended.abort();
      }
    }
  };
  return (request) => {
    const found = lists.get(request.calls) ?? join(request);
    lists.set(request.calls, found);
    return found;
  };
}
