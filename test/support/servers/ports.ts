import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** The ports that `freePort` chooses from. Operating systems assign ports above these to clients and to port 0. */
const PORTS = { first: 20_000, count: 12_000 };

/** Starts a server that only occupies a port of 127.0.0.1. */
export async function hold(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Returns a free port. No other program is likely to take it before the caller does. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + randomInt(PORTS.count);
    const server = await hold(port).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      return undefined;
    });
    if (server === undefined) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server does not listen on a port.");
  return address.port;
}
