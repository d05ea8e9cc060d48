import { describeValue } from "../input/describeValue.ts";
import { ArgumentError, TransportError } from "../errors.ts";
import { isObject } from "../input/json.ts";
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
 * @param options what an answer may cost; `maxBytes` cannot be held against a provider. `batchSize` is how many calls
 * that are made together may share a request; not every endpoint takes more than 1, which is the default
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function rpcCaller(
  rpc: string | Eip1193Provider,
  { batchSize = 1, ...options }: FetchOptions & { batchSize?: number },
): RpcCall {
  if (typeof rpc === "string") return callsOverHttp(checkUrl("rpc", rpc), batchSize, options);
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

interface Call {
  method: string;
  params: readonly unknown[];
  resolve: (result: unknown) => void;
  reject: (reason: unknown) => void;
}

/** Sends calls over HTTP. Those that are made together share a request, as a batch (JSON-RPC 2.0, section 6). */
function callsOverHttp(url: string, batchSize: number, options: FetchOptions): RpcCall {
  let waiting: Call[] = [];
  const send = () => {
    const calls = waiting;
    waiting = [];
    for (let i = 0; i < calls.length; i += batchSize) void sendTogether(url, calls.slice(i, i + batchSize), options);
  };
  return (method, params) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) queueMicrotask(send);
      waiting.push({ method, params, resolve, reject });
    });
}

async function sendTogether(url: string, calls: readonly Call[], options: FetchOptions): Promise<void> {
  try {
    const bodies = calls.map(({ method, params }, i) => ({ jsonrpc: "2.0", id: i + 1, method, params }));
    const { status, answer } = await post(url, bodies.length === 1 ? bodies[0] : bodies, options);
    for (const [i, { method, resolve, reject }] of calls.entries()) {
      const id = i + 1;
      // An endpoint that takes no batches answers with one error for all.
      const batch = bodies.length > 1 && Array.isArray(answer);
      const own: unknown = batch ? answer.find((one) => isObject(one) && one["id"] === id) : answer;
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
    // judged later, with every other answer that is not JSON-RPC
    return { status, answer: undefined };
  }
}

function resultOf(url: string, method: string, status: number, id: number, answer: unknown): unknown {
  const { host } = new URL(url);
  if (isObject(answer) && isObject(answer["error"])) throw rpcError(host, method, answer["error"]);
  if (status !== 200) {
    throw new TransportError("RPC_ERROR", `${host} answers ${method} with the HTTP status ${status}.`, {
      actual: status,
    });
  }
  if (!isObject(answer) || answer["jsonrpc"] !== "2.0" || answer["id"] !== id || !Object.hasOwn(answer, "result")) {
    throw new TransportError("RPC_ANSWER_INVALID", `${host} answers ${method} with something other than JSON-RPC 2.0.`);
  }
  return answer["result"];
}

/** An error in its sender's own words: quoted, cut, and without addresses, which hold secrets. Its code is `actual`. */
function rpcError(who: string, method: string, error: unknown, options?: ErrorOptions): TransportError {
  const { code, message } = isObject(error) ? error : {};
  const number = typeof code === "number" ? ` ${code}` : "";
  const words = typeof message === "string" ? message.replace(/(?:http|ws)s?:\/\/\S+/gi, "<address>") : "no reason";
  const sentence = `${who} answers ${method} with the error${number}: ${describeValue(words)}.`;
  return new TransportError("RPC_ERROR", sentence, { ...options, actual: typeof code === "number" ? code : undefined });
}
