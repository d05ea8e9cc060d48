import type { RpcCall } from "../transport/jsonRpc.ts";

/** Sends equal calls only once, so that all users of a list share the same block and the answers about it. */
export function shareEqualCalls(call: RpcCall): RpcCall {
  const results = new Map<string, Promise<unknown>>();
  return (method, params) => {
    const key = JSON.stringify([method, params]);
    const result = results.get(key) ?? call(method, params);
    results.set(key, result);
    return result;
  };
}
