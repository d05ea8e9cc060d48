import { parseUrl } from "../engine/parseUrl.ts";
import { hasOwn } from "../engine/language.ts";
import { decodeUtf8 } from "../engine/utf8.ts";
import { describeValue, isObject } from "../input/values.ts";
import { ArgumentError, TransportError, type TransportErrorDetails } from "../errors.ts";
import { parseBoundedJson } from "../input/jsonLimits.ts";
import { checkSourceUrl } from "./url.ts";
import { fetchBytes, type FetchOptions } from "./fetchBytes.ts";
import { retryAfterOf } from "./retryAfter.ts";
import { timeLeft, withTimeout } from "./timeout.ts";

/** A provider of JSON-RPC calls (EIP-1193), such as a wallet, a light client or an Ethereum library. */
export interface Eip1193Provider {
  // Wallets declare the type of `params` in different ways. A stricter type would reject the providers of MetaMask and
  // viem.
  // oxlint-disable-next-line typescript/no-explicit-any
  request(args: { method: string; params?: any }): Promise<unknown>;
}

/**
 * Sends a JSON-RPC call and returns the `result` field of the response unchecked.
 * @throws TransportError RPC_ERROR, RPC_ANSWER_INVALID, or an error of `fetchBytes`
 */
export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

export interface RpcOptions extends FetchOptions {
  /** Returns the maximum size of the response to a method, in bytes. Default: only `maxBytes` applies. */
  bytesOf?: ((method: string) => number) | undefined;
}

/** Maximum nesting depth of a response, which is enough for a batch of blocks with withdrawals. */
const MAX_DEPTH = 16;

/**
 * Returns a function that sends JSON-RPC calls, each in its own request.
 * @param rpc the http(s) URL of a JSON-RPC endpoint, or a provider
 * @param options the limits of each request. `maxBytes` does not apply to a provider.
 * @example
 * const call = rpcCaller("http://127.0.0.1:8545", { maxBytes: 2 ** 20, timeoutMs: 30_000 });
 * const chainId = await call("eth_chainId", []);
 */
export function rpcCaller(rpc: string | Eip1193Provider, options: RpcOptions): RpcCall {
  checkEndpoint(rpc, options.allowHttp);
  if (typeof rpc === "string")
    return async (method, params) => {
      const reply = await post(rpc, [{ method, params }], options);
      return resultOf(rpc, method, 1, reply.answer, reply);
    };
  return (method, params) =>
    withTimeout("The provider", timeLeft(options.timeoutMs, options.deadline), options.signal, async () => {
      let answer: unknown;
      try {
        answer = await rpc.request({ method, params });
      } catch (cause) {
        throw rpcError("The provider", method, cause, { cause });
      }
      // web3.js 4 returns the whole JSON-RPC response, which this field shows. No result of a method has it.
      if (!isObject(answer) || answer["jsonrpc"] !== "2.0") return answer;
      if (hasOwn(answer, "result")) return answer["result"];
      throw rpcError("The provider", method, answer["error"], {});
    });
}

/**
 * Checks that a value is the URL of a JSON-RPC endpoint, or a provider.
 * @param allowHttp as in `FetchOptions`
 */
export function checkEndpoint(rpc: unknown, allowHttp: boolean | undefined): void {
  if (typeof rpc === "string") checkSourceUrl("rpc", rpc, allowHttp);
  else if (!isObject(rpc) || typeof rpc["request"] !== "function")
    throw new ArgumentError("ARGUMENT_INVALID", "The rpc option must be an http(s) URL or an EIP-1193 provider.");
}

/** The HTTP part of a response, and the end of an error message if the response is not JSON. */
interface Reply {
  status: number;
  retryAfter: number | undefined;
  problem?: string;
}

/** Sends a call, or several calls as a batch. The id of each call is its position in the list, counted from 1. */
export async function post(
  url: string,
  calls: readonly { method: string; params: readonly unknown[] }[],
  { bytesOf, ...options }: RpcOptions,
): Promise<Reply & { answer?: unknown }> {
  const bodies = calls.map(({ method, params }, i) => ({ jsonrpc: "2.0", id: i + 1, method, params }));
  const init: RequestInit = {
    ...{ method: "POST", cache: "no-store" },
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(bodies.length > 1 ? bodies : bodies[0]),
  };
  let maxBytes = bytesOf === undefined ? options.maxBytes : 0;
  if (bytesOf !== undefined) for (const { method } of calls) maxBytes += bytesOf(method);
  const { status, headers, bytes } = await fetchBytes(url, init, { ...options, maxBytes });
  const reply = { status, retryAfter: retryAfterOf(headers) };
  try {
    return { ...reply, answer: parseBoundedJson(decodeUtf8(bytes), MAX_DEPTH, calls.length) };
  } catch (error) {
    return { ...reply, problem: error instanceof ArgumentError ? `: ${error.message}` : "." };
  }
}

/**
 * Returns the result of a call.
 * @param answer the parsed response, or the call's part of a batch
 */
export function resultOf(
  url: string,
  method: string,
  id: number,
  answer: unknown,
  { problem = ".", ...http }: Reply,
): unknown {
  const { host } = parseUrl(url);
  if (isObject(answer) && isObject(answer["error"])) throw rpcError(host, method, answer["error"], http);
  const { status } = http;
  if (status !== 200) {
    const message = `${host} returned the HTTP status ${status} for ${method}.`;
    throw new TransportError("RPC_ERROR", message, { actual: status, ...http });
  }
  if (!isObject(answer) || answer["jsonrpc"] !== "2.0" || answer["id"] !== id || !hasOwn(answer, "result")) {
    throw new TransportError("RPC_ANSWER_INVALID", `${host} did not return JSON-RPC 2.0 for ${method}${problem}`);
  }
  return answer["result"];
}

/**
 * Makes the error for a failure that the endpoint or provider reported. The field `actual` contains the reported code.
 * The message quotes the start of the reported message without URLs, which may contain secrets.
 */
function rpcError(subject: string, method: string, error: unknown, details: TransportErrorDetails): TransportError {
  const { code, message } = isObject(error) ? error : {};
  const number = typeof code === "number" ? ` ${code}` : "";
  const reason = typeof message === "string" ? message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<address>") : undefined;
  const sentence = `${subject} returned the error${number} for ${method}: ${describeValue(reason ?? "no reason")}.`;
  const actual = typeof code === "number" ? code : undefined;
  return new TransportError("RPC_ERROR", sentence, { ...details, actual, reason });
}
