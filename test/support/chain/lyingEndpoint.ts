import type { RpcCall } from "keyroot/internal/transport";
import { startRpcProxy } from "../servers/rpcProxy.ts";
import { callerOf } from "./local.ts";

/** Computes an endpoint's answer to a call. `truth` calls the chain. */
export type Lie = (method: string, params: readonly unknown[], truth: RpcCall) => unknown;

/** Computes the answers to one method. All other calls are forwarded. */
export const lieAt =
  (method: string, answer: (forward: () => Promise<unknown>, params: readonly unknown[]) => unknown): Lie =>
  (called, params, truth) => {
    const forward = () => truth(called, params);
    return called === method ? answer(forward, params) : forward();
  };

/** An endpoint in front of a chain. It forwards calls while `lie` is undefined. `fiveEndpoints.ts` has lies about blocks. */
export interface Endpoint {
  readonly url: string;
  lie: Lie | undefined;
  /** Number of HTTP requests that the endpoint received. */
  requests: number;
  close(): Promise<void>;
}

export async function startEndpoint(chainUrl: string): Promise<Endpoint> {
  const truth = callerOf(chainUrl);
  const proxy = await startRpcProxy(chainUrl, async ({ method, params }) => {
    if (endpoint.lie === undefined) return undefined;
    try {
      return { result: await endpoint.lie(method, params, truth) };
    } catch {
      return { status: 500 };
    }
  });
  const endpoint: Endpoint = {
    url: proxy.url,
    lie: undefined,
    get requests() {
      return proxy.httpRequests;
    },
    set requests(count) {
      proxy.httpRequests = count;
    },
    close: () => proxy.close(),
  };
  return endpoint;
}
