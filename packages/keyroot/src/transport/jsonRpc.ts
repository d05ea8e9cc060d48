import { describeValue } from "../input/describeValue.ts";
import { ArgumentError, TransportError } from "../errors.ts";
import { isObject } from "../input/json.ts";
import { fetchBytes, type FetchOptions, withTimeout } from "./fetchBytes.ts";

/** A provider of JSON-RPC calls (EIP-1193), such as a wallet, a light client or a library's provider. */
export interface Eip1193Provider {
  request(args: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/**
 * Sends one JSON-RPC call and returns the `result` of the answer, unchecked.
 * @throws TransportError RPC_ERROR, RPC_ANSWER_INVALID, and as `fetchBytes`
 */
export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * Creates a function that sends JSON-RPC calls.
 * @param rpc the http(s) URL of a JSON-RPC endpoint, or a provider
 * @param options the limits of each call; `maxBytes` does not apply to a provider. `batchSize` is the maximum number of
 * concurrent calls in one request, default 1: not every endpoint accepts batches
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const call = rpcCaller("http://127.0.0.1:8545", { maxBytes: 2 ** 20, timeoutMs: 30_000 });
 * const chainId = await call("eth_chainId", []);
 */
export function rpcCaller(
  rpc: string | Eip1193Provider,
  { batchSize = 1, ...options }: FetchOptions & { batchSize?: number },
): RpcCall {
  if (typeof rpc === "string") return callsOverHttp(checkUrl("rpc", rpc), batchSize, options);
  if (!isObject(rpc) || typeof rpc.request !== "function") {
    throw new ArgumentError("ARGUMENT_INVALID", "The option rpc must be an http(s) URL or an EIP-1193 provider.");
  }
  return (method, params) =>
    withTimeout("The provider", options.timeoutMs, options.signal, async () => {
      try {
        return await rpc.request({ method, params });
      } catch (cause) {
        throw rpcError("The provider", method, cause, { cause });
      }
    });
}

/**
 * Returns `url` if it is an http(s) URL. The error does not contain the URL, because URLs of endpoints contain secrets.
 * @throws ArgumentError ARGUMENT_INVALID; also for a URL with user and password, which fetch rejects
 */
export function checkUrl(option: string, url: unknown): string {
  if (typeof url === "string" && URL.canParse(url)) {
    const { protocol, username, password } = new URL(url);
    if (/^https?:$/.test(protocol) && username === "" && password === "") return url;
  }
  const message = `The option ${option} must be an http(s) URL without user and password.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

interface PendingCall {
  method: string;
  params: readonly unknown[];
  resolve: (result: unknown) => void;
  reject: (reason: unknown) => void;
}

/** Sends calls over HTTP. Calls that are made at the same time share a request, as a batch (JSON-RPC 2.0, section 6). */
function callsOverHttp(url: string, batchSize: number, options: FetchOptions): RpcCall {
  let pending: PendingCall[] = [];
  const send = () => {
    const calls = pending;
    pending = [];
    for (let i = 0; i < calls.length; i += batchSize) void sendBatch(url, calls.slice(i, i + batchSize), options);
  };
  return (method, params) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) queueMicrotask(send);
      pending.push({ method, params, resolve, reject });
    });
}

async function sendBatch(url: string, calls: readonly PendingCall[], options: FetchOptions): Promise<void> {
  try {
    const bodies = calls.map(({ method, params }, i) => ({ jsonrpc: "2.0", id: i + 1, method, params }));
    const { status, answer } = await post(url, bodies.length === 1 ? bodies[0] : bodies, options);
    for (const [i, { method, resolve, reject }] of calls.entries()) {
      const id = i + 1;
      // An endpoint that does not accept batches answers with one error for all calls.
      const isBatch = bodies.length > 1 && Array.isArray(answer);
      const own: unknown = isBatch ? answer.find((one) => isObject(one) && one["id"] === id) : answer;
      try {
        resolve(resultOf(url, method, status, id, own));
      } catch (error) {
        reject(error);
      }
    }
  } catch (error) {
    for (const { reject } of calls) reject(error);
  }
}

async function post(url: string, body: unknown, options: FetchOptions): Promise<{ status: number; answer: unknown }> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const { status, bytes } = await fetchBytes(url, init, options);
  try {
    return { status, answer: JSON.parse(new TextDecoder().decode(bytes)) };
  } catch {
    // `resultOf` rejects undefined like every other answer that is not JSON-RPC.
    return { status, answer: undefined };
  }
}

function resultOf(url: string, method: string, status: number, id: number, answer: unknown): unknown {
  const { host } = new URL(url);
  if (isObject(answer) && isObject(answer["error"])) throw rpcError(host, method, answer["error"]);
  if (status !== 200) {
    const message = `${host} answered ${method} with the HTTP status ${status}.`;
    throw new TransportError("RPC_ERROR", message, { actual: status });
  }
  if (!isObject(answer) || answer["jsonrpc"] !== "2.0" || answer["id"] !== id || !Object.hasOwn(answer, "result")) {
    throw new TransportError("RPC_ANSWER_INVALID", `The answer of ${host} to ${method} is not JSON-RPC 2.0.`);
  }
  return answer["result"];
}

/**
 * An error that the other side reported, with its code in `actual`. The message quotes the reported message, shortened and
 * without URLs, which contain secrets.
 */
function rpcError(subject: string, method: string, error: unknown, options?: ErrorOptions): TransportError {
  const { code, message } = isObject(error) ? error : {};
  const number = typeof code === "number" ? ` ${code}` : "";
  const reported = typeof message === "string" ? message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<address>") : "no reason";
  const sentence = `${subject} answered ${method} with the error${number}: ${describeValue(reported)}.`;
  return new TransportError("RPC_ERROR", sentence, { ...options, actual: typeof code === "number" ? code : undefined });
}
