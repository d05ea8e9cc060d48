import { describeValue } from "../describeValue.ts";
import { ArgumentError, TransportError } from "../errors.ts";
import { isObject } from "../json.ts";
import { fetchBytes, type FetchOptions, withinTime } from "./fetchBytes.ts";

/** What answers JSON-RPC calls (EIP-1193): a wallet, a light client, a library's provider. */
export interface Eip1193Provider {
  request(args: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/**
 * A function that sends one JSON-RPC call and returns the answer's `result`, of which nothing has been checked.
 * @throws TransportError RPC_ERROR, RPC_ANSWER_INVALID, and as `fetchBytes`
 */
export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * @param rpc the address of a JSON-RPC endpoint (http or https), or a provider
 * @param options what an answer may cost; `maxBytes` cannot be held against a provider
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function rpcCaller(rpc: string | Eip1193Provider, options: FetchOptions): RpcCall {
  if (typeof rpc === "string") {
    checkUrl(rpc);
    return (method, params) => callOverHttp(rpc, method, params, options);
  }
  if (!isObject(rpc) || typeof rpc.request !== "function") {
    throw new ArgumentError("ARGUMENT_INVALID", "rpc must be an http(s) address or an EIP-1193 provider.");
  }
  return (method, params) =>
    withinTime("The provider", options.timeoutMs, options.signal, async () => {
      try {
        return await rpc.request({ method, params });
      } catch (cause) {
        const message = `The provider answers ${method} with an error: ${quote((cause as Error | null)?.message)}.`;
        throw new TransportError("RPC_ERROR", message, { cause });
      }
    });
}

/**
 * Returns an http(s) address that it was given.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkUrl(url: unknown): string {
  if (typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new ArgumentError("ARGUMENT_INVALID", `${describeValue(url)} is not an http(s) address.`, { actual: url });
}

async function callOverHttp(url: string, method: string, params: readonly unknown[], options: FetchOptions) {
  const { host } = new URL(url);
  const id = 1;
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const { status, bytes } = await fetchBytes(url, init, options);
  let answer: unknown;
  try {
    answer = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // judged below, with every other answer that is not JSON-RPC
  }
  if (isObject(answer) && isObject(answer["error"])) {
    const { code, message } = answer["error"];
    throw new TransportError("RPC_ERROR", `${host} answers ${method} with error ${quote(code)}: ${quote(message)}.`);
  }
  if (status !== 200) {
    throw new TransportError("RPC_ERROR", `${host} answers ${method} with the HTTP status ${status}.`);
  }
  if (!isObject(answer) || answer["jsonrpc"] !== "2.0" || answer["id"] !== id || !Object.hasOwn(answer, "result")) {
    throw new TransportError("RPC_ANSWER_INVALID", `${host} answers ${method} with something other than JSON-RPC 2.0.`);
  }
  return answer["result"];
}

/** An endpoint's own words, as they may stand in a message. */
function quote(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? describeValue(value) : "without a reason";
}
