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
    checkUrl("rpc", rpc);
    return (method, params) => callOverHttp(rpc, method, params, options);
  }
  if (!isObject(rpc) || typeof rpc.request !== "function") {
    throw new ArgumentError("ARGUMENT_INVALID", "The option rpc must be an http(s) address or an EIP-1193 provider.");
  }
  return (method, params) =>
    withinTime("The provider", options.timeoutMs, options.signal, async () => {
      try {
        return await rpc.request({ method, params });
      } catch (cause) {
        throw rpcError("The provider", method, cause, { cause });
      }
    });
}

/**
 * Returns an http(s) address that it was given. The error does not show it: addresses of endpoints hold secrets.
 * @throws ArgumentError ARGUMENT_INVALID; also with user and password in the address, which fetch refuses
 */
export function checkUrl(option: string, url: unknown): string {
  if (typeof url === "string" && URL.canParse(url)) {
    const { protocol, username, password } = new URL(url);
    if (/^https?:$/.test(protocol) && username === "" && password === "") return url;
  }
  const message = `The option ${option} must be an http(s) address, without user and password.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
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
  if (isObject(answer) && isObject(answer["error"])) throw rpcError(host, method, answer["error"]);
  if (status !== 200) {
    throw new TransportError("RPC_ERROR", `${host} answers ${method} with the HTTP status ${status}.`);
  }
  if (!isObject(answer) || answer["jsonrpc"] !== "2.0" || answer["id"] !== id || !Object.hasOwn(answer, "result")) {
    throw new TransportError("RPC_ANSWER_INVALID", `${host} answers ${method} with something other than JSON-RPC 2.0.`);
  }
  return answer["result"];
}

/** An error in its sender's own words: quoted, cut, and without addresses, which hold secrets. */
function rpcError(who: string, method: string, error: unknown, options?: ErrorOptions): TransportError {
  const { code, message } = isObject(error) ? error : {};
  const number = typeof code === "number" ? ` ${code}` : "";
  const words = typeof message === "string" ? message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<address>") : "no reason";
  const sentence = `${who} answers ${method} with the error${number}: ${describeValue(words)}.`;
  return new TransportError("RPC_ERROR", sentence, options);
}
