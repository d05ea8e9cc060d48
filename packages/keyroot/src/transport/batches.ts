import { isObject } from "../input/values.ts";
import { type Eip1193Provider, post, resultOf, type RpcCall, rpcCaller, type RpcOptions } from "./jsonRpc.ts";

interface PendingCall {
  method: string;
  params: readonly unknown[];
  resolve: (result: unknown) => void;
  reject: (reason: unknown) => void;
}

/** The HTTP statuses with which an endpoint refuses any request: missing credentials, or too many requests. */
const REFUSED = [401, 403, 429];

/**
 * Returns a function that sends JSON-RPC calls like `rpcCaller`, but in batches: concurrent calls over HTTP share one
 * request (JSON-RPC 2.0, section 6). Some endpoints accept only small batches, or none. Calls without an answer are
 * therefore repeated in smaller batches, and finally one by one.
 * @param batchSize maximum number of calls in one request
 */
export function batchingCaller(rpc: string | Eip1193Provider, batchSize: number, options: RpcOptions): RpcCall {
  const single = rpcCaller(rpc, options);
  return typeof rpc === "string" ? callsInBatches(rpc, batchSize, options) : single;
}

function callsInBatches(url: string, batchSize: number, options: RpcOptions): RpcCall {
  let pending: PendingCall[] = [];
  let largest = batchSize;
  const sendAll = (calls: readonly PendingCall[]) => {
    for (let i = 0; i < calls.length; i += largest) void send(calls.slice(i, i + largest));
  };
  const send = async (calls: readonly PendingCall[]) => {
    const unanswered = await sendBatch(url, calls, options);
    if (unanswered.length === 0) return;
    largest = Math.min(largest, Math.ceil(calls.length / 2));
    sendAll(unanswered);
  };
  return (method, params) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0)
        void Promise.resolve().then(() => {
          const calls = pending;
          pending = [];
          sendAll(calls);
        });
      pending.push({ method, params, resolve, reject });
    });
}

/** @returns the calls of a batch that the endpoint did not answer */
async function sendBatch(
  url: string,
  calls: readonly PendingCall[],
  options: RpcOptions,
): Promise<readonly PendingCall[]> {
  const unanswered: PendingCall[] = [];
  try {
    const { answer, ...reply } = await post(url, calls, options);
    for (const [i, call] of calls.entries()) {
      const id = i + 1;
      let own = answer;
      if (calls.length > 1) {
        own = undefined;
        // The `find` method is not used, because some libraries replace it.
        if (Array.isArray(answer)) for (const one of answer) if (isObject(one) && one["id"] === id) own = one;
        if (own === undefined && !REFUSED.includes(reply.status)) {
          unanswered.push(call);
          continue;
        }
        own ??= answer;
      }
      try {
        call.resolve(resultOf(url, call.method, id, own, reply));
      } catch (error) {
        call.reject(error);
      }
    }
  } catch (error) {
    for (const { reject } of calls) reject(error);
  }
  return unanswered;
}
