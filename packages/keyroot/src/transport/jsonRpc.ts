import { parseUrl } from "../engine/parseUrl.ts";
import { hasOwn } from "../engine/language.ts";
import { decodeUtf8 } from "../engine/utf8.ts";
import { describeValue } from "../input/describeValue.ts";
import { ArgumentError, TransportError, type TransportErrorDetails } from "../errors.ts";
import { isObject } from "../input/isObject.ts";
import { parseBoundedJson } from "../input/jsonLimits.ts";
import { checkNames } from "../input/options.ts";
import { checkSourceUrl } from "./url.ts";
import { FETCH_OPTIONS, fetchBytes, type FetchOptions } from "./fetchBytes.ts";
import { retryAfterOf } from "./retryAfter.ts";
import { timeLeft, withTimeout } from "./timeout.ts";

/** A provider of JSON-RPC calls (EIP-1193), such as a wallet, a light client or an Ethereum library. */
export interface Eip1193Provider {
  // Wallets declare `params` in different ways. A stricter type would reject the providers of MetaMask and viem.
  // oxlint-disable-next-line typescript/no-explicit-any
  request(args: { method: string; params?: any }): Promise<unknown>;
}

/**
 * Sends a JSON-RPC call. Returns the `result` field of the response without checks.
 * @throws TransportError RPC_ERROR, RPC_ANSWER_INVALID, and the errors of `fetchBytes`
 */
export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** The options of JSON-RPC requests. */
export interface RpcOptions extends FetchOptions {
  /** Maximum number of concurrent calls in one request. Default: 1, because some endpoints do not accept batches. */
  batchSize?: number;
  /** Returns the maximum size of the response to a method, in bytes. Default: only `maxBytes` applies. */
  bytesOf?: ((method: string) => number) | undefined;
}

/** Maximum nesting depth of a response. This depth is enough for a batch of blocks with withdrawals. */
const MAX_DEPTH = 16;

const OPTIONS: (keyof RpcOptions)[] = [...FETCH_OPTIONS, "batchSize", "bytesOf"];

/**
 * Makes a function that sends JSON-RPC calls.
 * @param rpc the http(s) URL of a JSON-RPC endpoint, or a provider
 * @param options the limits of each request. `maxBytes` does not apply to a provider.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const call = rpcCaller("http://127.0.0.1:8545", { maxBytes: 2 ** 20, timeoutMs: 30_000 });
 * const chainId = await call("eth_chainId", []);
 */
export function rpcCaller(rpc: string | Eip1193Provider, { batchSize = 1, ...options }: RpcOptions): RpcCall {
  checkNames("The options", options, OPTIONS);
  checkEndpoint(rpc, options.allowHttp);
  if (typeof rpc === "string") return callsOverHttp(rpc, batchSize, options);
  return (method, params) =>
    withTimeout("The provider", timeLeft(options), options.signal, async () => {
      try {
        return await rpc.request({ method, params });
      } catch (cause) {
        throw rpcError("The provider", method, cause, { cause });
      }
    });
}

/**
 * Checks that a value is the URL of a JSON-RPC endpoint, or a provider. @param allowHttp as in `FetchOptions` @throws
 * ArgumentError ARGUMENT_INVALID
 */
export function checkEndpoint(rpc: unknown, allowHttp: boolean | undefined): void {
  if (typeof rpc === "string") checkSourceUrl("rpc", rpc, allowHttp);
  else if (!isObject(rpc) || typeof rpc["request"] !== "function")
    throw new ArgumentError("ARGUMENT_INVALID", "The rpc option must be an http(s) URL or an EIP-1193 provider.");
}

interface PendingCall {
  method: string;
  params: readonly unknown[];
  resolve: (result: unknown) => void;
  reject: (reason: unknown) => void;
}

/** The HTTP statuses with which an endpoint refuses any request: missing credentials, or too many requests. */
const REFUSED = [401, 403, 429];

/** Sends calls over HTTP. Concurrent calls share a request, called a batch (JSON-RPC 2.0, section 6). */
function callsOverHttp(url: string, batchSize: number, options: Omit<RpcOptions, "batchSize">): RpcCall {
  let pending: PendingCall[] = [];
  let largest = batchSize;
  const sendAll = (calls: readonly PendingCall[]) => {
    for (let i = 0; i < calls.length; i += largest) void send(calls.slice(i, i + largest));
  };
  const send = async (calls: readonly PendingCall[]) => {
    const unanswered = await sendBatch(url, calls, options);
    if (unanswered.length === 0) return;
    // Endpoints accept batches of different sizes. Repeat the calls in smaller batches, and at last one by one.
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
  { bytesOf, ...options }: Omit<RpcOptions, "batchSize">,
): Promise<readonly PendingCall[]> {
  let maxBytes = bytesOf === undefined ? options.maxBytes : 0;
  if (bytesOf !== undefined) for (const { method } of calls) maxBytes += bytesOf(method);
  const unanswered: PendingCall[] = [];
  try {
    const bodies = calls.map(({ method, params }, i) => ({ jsonrpc: "2.0", id: i + 1, method, params }));
    const isBatch = bodies.length > 1;
    const { answer, ...reply } = await post(url, isBatch ? bodies : bodies[0], calls.length, {
      ...options,
      maxBytes,
    });
    for (const [i, call] of calls.entries()) {
      const id = i + 1;
      let own = answer;
      if (isBatch) {
        own = undefined;
        // This loop does not use the `find` method, because some libraries replace `find`.
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

/** The HTTP part of a response, and the end of an error message if the response is not JSON. */
interface Reply {
  status: number;
  retryAfter: number | undefined;
  problem?: string;
}

async function post(
  url: string,
  body: unknown,
  calls: number,
  options: FetchOptions,
): Promise<Reply & { answer?: unknown }> {
  const init: RequestInit = {
    ...{ method: "POST", cache: "no-store" },
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const { status, headers, bytes } = await fetchBytes(url, init, options);
  const reply = { status, retryAfter: retryAfterOf(headers) };
  try {
    return { ...reply, answer: parseBoundedJson(decodeUtf8(bytes), MAX_DEPTH, calls) };
  } catch (error) {
    return { ...reply, problem: error instanceof ArgumentError ? `: ${error.message}` : "." };
  }
}

function resultOf(
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
 * Makes the error for a failure that the endpoint or provider reported. `actual` contains the reported code. The
 * message quotes the reported message in a short form without URLs, because URLs may contain secrets.
 */
function rpcError(subject: string, method: string, error: unknown, details: TransportErrorDetails): TransportError {
  const { code, message } = isObject(error) ? error : {};
  const number = typeof code === "number" ? ` ${code}` : "";
  const reason = typeof message === "string" ? message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<address>") : undefined;
  const sentence = `${subject} returned the error${number} for ${method}: ${describeValue(reason ?? "no reason")}.`;
  const actual = typeof code === "number" ? code : undefined;
  return new TransportError("RPC_ERROR", sentence, { ...details, actual, reason });
}
