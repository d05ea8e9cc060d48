import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listen, type Listening } from "@keyroot/service/stack";

/**
 * Starts an endpoint that forwards every call to the chain's endpoint. It is not an independent source. However,
 * visitors can use it to try out what happens if several endpoints must agree.
 */
export function startRelay(rpcUrl: string): Promise<Listening> {
  const server = createServer((request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Headers", "Content-Type");
    if (request.method === "OPTIONS") {
      response.writeHead(204).end();
      return;
    }
    const forward = async () => {
      const body = await text(request);
      const forwarded = await fetch(rpcUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      response.writeHead(forwarded.status, { "Content-Type": "application/json" }).end(await forwarded.text());
    };
    forward().catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  return listen(server, { host: "127.0.0.1", port: 0 });
}
