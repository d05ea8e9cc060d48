import type { RpcCall } from "../transport/jsonRpc.ts";

/**
 * Returns a function that sends equal calls only once. All users of a list then share the same block and the answers
 * about it.
 */
export function shareEqualCalls(call: RpcCall): RpcCall {
  const results = new Map<string, Promise<unknown>>();
  return (method, params) => {
    const key = JSON.stringify([method, params]);
    const result = results.get(key) ?? call(method, params);
    results.set(key, result);
    return result;
  };
}
