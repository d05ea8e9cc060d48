import { text } from "node:stream/consumers";
import type { RpcCall } from "keyroot/internal/transport";
import { serve } from "../servers/servers.ts";
import { callerOf } from "./local.ts";

/** Computes an endpoint's answer to a call. `truth` calls the chain. */
export type Lie = (method: string, params: readonly unknown[], truth: RpcCall) => unknown;

/** Computes the answers to one method. All other calls are forwarded. */
export const lieAt =
  (method: string, answer: (forward: () => Promise<unknown>, params: readonly unknown[]) => unknown): Lie =>
  (called, params, truth) => {
    const forward = () => truth(called, params);
    return called === method ? answer(forward, params) : forward();
  };

/** An endpoint in front of a chain. It forwards calls while `lie` is undefined. `fiveEndpoints.ts` has lies about blocks. */
export interface Endpoint {
  readonly url: string;
  lie: Lie | undefined;
  /** Number of HTTP requests that the endpoint received. */
  requests: number;
  close(): Promise<void>;
}

interface Call {
  id: number;
  method: string;
  params: readonly unknown[];
}

export async function startEndpoint(chainUrl: string): Promise<Endpoint> {
  const truth = callerOf(chainUrl);
  const honest: Lie = (method, params, truth) => truth(method, params);
  const server = await serve((request, response) => {
    const answerOne = async ({ id, method, params }: Call) => {
      const result = await (endpoint.lie ?? honest)(method, params, truth);
      return { jsonrpc: "2.0", id, result };
    };
    const answer = async () => {
      const body = JSON.parse(await text(request)) as Call | Call[];
      endpoint.requests++;
      const answers = Array.isArray(body) ? await Promise.all(body.map(answerOne)) : await answerOne(body);
      response.end(JSON.stringify(answers));
    };
    answer().catch(() => response.writeHead(500).end());
  });
  const endpoint: Endpoint = { url: server.url, lie: undefined, requests: 0, close: () => server.close() };
  return endpoint;
}
