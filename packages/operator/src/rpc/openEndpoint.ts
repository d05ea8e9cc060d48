import { batchingCaller, type Eip1193Provider, RPC_LIMITS, type RpcCall } from "keyroot/internal/transport";
import type { RetryOptions } from "../http/retry.ts";
import { repeatingCaller } from "./repeatReads.ts";

/**
 * The number of concurrent calls that share one HTTP request. Endpoints that accept fewer calls get smaller requests
 * (`batchingCaller`).
 */
const CALLS_PER_REQUEST = 20;
/**
 * The number of requests that `mapCalls` sends at the same time. With two, an audit over a slow network takes half the
 * time.
 */
const REQUESTS_AT_ONCE = 2;

export interface EndpointOptions {
  /** Allows unencrypted http to other machines. Default: false. */
  allowHttp?: boolean | undefined;
  /** Sends the HTTP requests. Default: `globalThis.fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** The retries of reads. Default: 5 retries, starting after 500 ms. */
  retry?: RetryOptions | undefined;
  /** Aborts all requests and their retries. */
  signal?: AbortSignal | undefined;
}

/**
 * Opens an endpoint for commands: concurrent calls share requests, and reads are repeated after temporary failures.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function openEndpoint(
  rpc: string | Eip1193Provider,
  { allowHttp, fetch, retry, signal }: EndpointOptions = {},
): RpcCall {
  const { maxBytes, timeoutMs } = RPC_LIMITS;
  const options = { maxBytes, timeoutMs, bytesOf: () => maxBytes, allowHttp, fetch, signal };
  return repeatingCaller(batchingCaller(rpc, CALLS_PER_REQUEST, options), retry, signal);
}

/**
 * Makes a call for each item. It runs as many calls at the same time as fit into two requests.
 * @returns the results in the order of the items
 */
export async function mapCalls<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const callsAtOnce = CALLS_PER_REQUEST * REQUESTS_AT_ONCE;
  for (let i = 0; i < items.length; i += callsAtOnce)
    results.push(...(await Promise.all(items.slice(i, i + callsAtOnce).map(call))));
  return results;
}
