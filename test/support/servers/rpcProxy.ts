import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Listening } from "@keyroot/service/stack";
import { serve } from "./servers.ts";

/** A JSON-RPC request. */
export interface RpcRequest {
  jsonrpc: "2.0";
  id: number;
  method: string;
  params: readonly unknown[];
}

/** A JSON-RPC response, as the chain returns it. */
type RpcResponse = Record<string, unknown>;

/**
 * What the proxy returns for a request. A status, or an ending without a response, applies to the whole HTTP request,
 * which may contain several JSON-RPC requests.
 */
export type RpcOutcome =
  | { result: unknown }
  /** A JSON-RPC error. Default: with the HTTP status 200. */
  | { error: { code: number; message: string; data?: unknown }; status?: number; headers?: Record<string, string> }
  /** Any HTTP response. Default: without a body. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Any JSON-RPC response, also with a wrong id. */
  | { answer: RpcResponse }
  | { ending: "silence" | "reset" };

interface WholeOutcome {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends a request to the chain, and returns its response. */
export type Forward = (request: RpcRequest) => Promise<RpcResponse>;

/** Decides about a request. The proxy waits for the promise. Undefined forwards the request. */
export type RpcRule = (
  request: RpcRequest,
  forward: Forward,
) => RpcOutcome | undefined | Promise<RpcOutcome | undefined>;

const HEADERS = { "Content-Type": "application/json" };

/** Starts a JSON-RPC proxy in front of a chain. It forwards all requests until a rule is set. */
export async function startRpcProxy(chainUrl: string, rule?: RpcRule): Promise<RpcProxy> {
  const proxy = new RpcProxy(chainUrl, rule);
  await proxy.start();
  return proxy;
}

/** A JSON-RPC proxy with a rule that fails, delays or changes answers. */
export class RpcProxy {
  /** The chain's endpoint. It changes if the chain is restarted. */
  chainUrl: string;
  rule: RpcRule | undefined;
  /** All JSON-RPC requests so far, in their order. */
  readonly requests: RpcRequest[] = [];
  /** Number of HTTP requests so far. */
  httpRequests = 0;
  #server!: Listening;

  constructor(chainUrl: string, rule?: RpcRule) {
    this.chainUrl = chainUrl;
    this.rule = rule;
  }

  async start(): Promise<void> {
    this.#server = await serve((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        // The chain is not running, or the rule failed.
        if (!response.headersSent) response.writeHead(502);
        response.end(String(error));
      });
    });
  }

  get url(): string {
    return this.#server.url;
  }

  /** Returns the number of requests of a method so far. */
  count(method: string): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as RpcRequest | RpcRequest[];
    this.httpRequests++;
    const requests = Array.isArray(body) ? body : [body];
    const outcomes: RpcOutcome[] = [];
    for (const one of requests) outcomes.push(await this.#outcomeOf(one));

    const ending = outcomes.find((outcome) => "ending" in outcome);
    if (ending?.ending === "reset") {
      request.socket.resetAndDestroy();
    } else if (ending !== undefined) {
      await once(response, "close");
    } else {
      const answers = outcomes.map((outcome, i) => responseOf(outcome, requests[i]?.id));
      const json = JSON.stringify(Array.isArray(body) ? answers : answers[0]);
      const whole = outcomes.find((outcome) => "status" in outcome) ?? { status: 200, body: json };
      const { status = 200, headers, body: page = "error" in whole ? json : "" } = whole as WholeOutcome;
      response.writeHead(status, { ...HEADERS, ...headers }).end(page);
    }
  }

  async #outcomeOf(request: RpcRequest): Promise<RpcOutcome> {
    this.requests.push(request);
    const forward: Forward = async (request) => {
      const init = { method: "POST", headers: HEADERS, body: JSON.stringify(request) };
      return (await (await fetch(this.chainUrl, init)).json()) as RpcResponse;
    };
    return (await this.rule?.(request, forward)) ?? { answer: await forward(request) };
  }
}

function responseOf(outcome: RpcOutcome, id: number | undefined): RpcResponse | undefined {
  if ("answer" in outcome) return outcome.answer;
  if ("error" in outcome) return { jsonrpc: "2.0", id, error: outcome.error };
  return "result" in outcome ? { jsonrpc: "2.0", id, result: outcome.result } : undefined;
}

/**
 * A rule for the first requests that match. All later ones are forwarded.
 * @param matches a method, or a condition
 */
export function firstTimes(
  times: number,
  matches: string | ((request: RpcRequest) => boolean),
  outcome: RpcOutcome,
): RpcRule {
  let left = times;
  return (request) => {
    const applies = typeof matches === "string" ? request.method === matches : matches(request);
    return applies && left-- > 0 ? outcome : undefined;
  };
}

/** A rule that changes results. @param change receives the request and the chain's result */
export function changeResult(method: string, change: (result: unknown, request: RpcRequest) => unknown): RpcRule {
  return async (request, forward) => {
    if (request.method !== method) return undefined;
    const answer = await forward(request);
    return "result" in answer ? { result: await change(answer["result"], request) } : { answer };
  };
}
