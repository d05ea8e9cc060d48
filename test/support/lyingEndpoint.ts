import { text } from "node:stream/consumers";
import { type RpcCall, rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { serve } from "./servers.ts";

/** Computes an endpoint's answer to a call. `truth` calls the chain. */
export type Lie = (method: string, params: readonly unknown[], truth: RpcCall) => unknown;

/** An endpoint in front of a chain. It answers honestly while it has no lie. */
export interface Endpoint {
  readonly url: string;
  lie: Lie | undefined;
  close(): Promise<void>;
}

export async function startEndpoint(chainUrl: string): Promise<Endpoint> {
  const truth = rpcCaller(chainUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
  const honest: Lie = (method, params, truth) => truth(method, params);
  const server = await serve((request, response) => {
    const answer = async () => {
      const { id, method, params } = JSON.parse(await text(request)) as { id: number; method: string; params: [] };
      const result = await (endpoint.lie ?? honest)(method, params, truth);
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
    answer().catch(() => response.writeHead(500).end());
  });
  const endpoint: Endpoint = { url: server.url, lie: undefined, close: () => server.close() };
  return endpoint;
}
