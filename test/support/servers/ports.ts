import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Starts a server that only occupies a port of 127.0.0.1. */
export async function hold(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = await hold(0);
  const port = portOf(server);
  server.close();
  await once(server, "close");
  return port;
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server does not listen on a port.");
  return address.port;
}
