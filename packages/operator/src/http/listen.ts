import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { ArgumentError, TransportError } from "../errors.ts";

/** The number of consecutive ports to try. */
const TRIES = 64;
const LAST_PORT = 65_535;
/**
 * The time in ms after which the server closes an idle connection. A request fails if the server closes the connection at the
 * same time. Node's default of 5 s is too short for a busy client.
 */
const KEEP_ALIVE_MS = 75_000;

/** A server that accepts connections. */
export interface Listening {
  /** The URL of the server: `http://<address>:<port>`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Closes all open connections at once, and frees the port. */
  close(): Promise<void>;
}

/**
 * Makes a server listen on a host. If the port is in use, the server uses the next free port. With port 0, the server
 * uses any free port. Only listening can show reliably whether a port is free.
 *
 * @throws ArgumentError `ARGUMENT_INVALID`: the port is not a whole number from 0 to 65535.
 * @throws TransportError `PORT_UNAVAILABLE`: 64 consecutive ports are in use, or the system does not allow listening
 * there.
 */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<Listening> {
  if (!Number.isInteger(port) || port < 0 || port > LAST_PORT) {
    throw new ArgumentError("ARGUMENT_INVALID", `The port must be a whole number from 0 to ${LAST_PORT}, not ${port}.`);
  }
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  if (server instanceof HttpServer) server.keepAliveTimeout = KEEP_ALIVE_MS;
  const bound = await bind(server, host, port);
  return {
    url: `http://${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`,
    port: bound.port,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * Returns the first free port of this machine, starting from a wanted port. Another process may take the port before the caller
 * uses it.
 */
export async function freePort(wanted: number): Promise<number> {
  const probe = await listen(createServer(), { host: "127.0.0.1", port: wanted });
  await probe.close();
  return probe.port;
}

async function bind(server: Server, host: string, first: number): Promise<AddressInfo> {
  const last = first === 0 ? 0 : Math.min(first + TRIES - 1, LAST_PORT);
  for (let port = first; ; port++) {
    try {
      server.listen(port, host);
      await once(server, "listening");
      return server.address() as AddressInfo;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && port < last) continue;
      const message = `Cannot listen on ${host}, port ${port === first ? port : `${first} to ${port}`}: ${code}. Choose another port.`;
      throw new TransportError("PORT_UNAVAILABLE", message, { cause: error });
    }
  }
}
