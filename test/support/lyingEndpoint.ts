import { text } from "node:stream/consumers";
import { type RpcCall, rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { serve } from "./servers.ts";

/** What an endpoint answers instead of the truth, which is what its chain answers. */
export type Lie = (method: string, params: readonly unknown[], truth: RpcCall) => unknown;

/** An endpoint that stands in front of a chain: honest, while it has no lie to tell. */
export interface Endpoint {
  readonly url: string;
  lie: Lie | undefined;
  close(): Promise<void>;
}

export async function startEndpoint(chainUrl: string): Promise<Endpoint> {
  const truth = rpcCaller(chainUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
  const server = await serve((request, response) => {
    const answer = async () => {
      const { id, method, params } = JSON.parse(await text(request)) as { id: number; method: string; params: [] };
      const result = await (endpoint.lie ?? ask)(method, params, truth);
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
    answer().catch(() => response.writeHead(500).end());
  });
  const ask: Lie = (method, params, truth) => truth(method, params);
  const endpoint: Endpoint = { url: server.url, lie: undefined, close: () => server.close() };
  return endpoint;
}
