import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { argumentInvalid, TransportError } from "../errors.ts";

/** The number of consecutive ports to try. */
const TRIES = 64;
const LAST_PORT = 65_535;
/**
 * The time in ms after which the server closes an idle connection. If a request arrives just as its connection is
 * closed, it fails. With Node's default of 5 s, this would happen too often.
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

/** Where a server listens. */
export interface ListenAddress {
  host: string;
  /** The port to listen on, or 0 for any free port. If it is in use, the next free port is used. */
  port: number;
}

/**
 * Makes a server listen on a host, on the given port or the next free one.
 * @throws ArgumentError `ARGUMENT_INVALID` if the port is not a whole number from 0 to 65535
 * @throws TransportError `PORT_UNAVAILABLE` if 64 consecutive ports are in use, or the system does not allow listening
 *   there
 */
export async function listen(server: Server, address: ListenAddress): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  if (server instanceof HttpServer) server.keepAliveTimeout = KEEP_ALIVE_MS;
  const bound = await onFreePort(address, async (port) => {
    server.listen(port, address.host);
    await once(server, "listening");
    return server.address() as AddressInfo;
  });
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
 * Calls `bind` with a port. If the port is in use, it tries the next ports, one after the other. `bind` must really
 * listen on the port, because another program may take a port that was only found to be free.
 * @param bind listens on the port. It must fail with the code `EADDRINUSE` if the port is in use
 * @returns the result of `bind`
 * @throws ArgumentError `ARGUMENT_INVALID` if the port is not a whole number from 0 to 65535
 * @throws TransportError `PORT_UNAVAILABLE` if 64 consecutive ports are in use, or the system does not allow listening
 *   there
 */
export async function onFreePort<T>(
  { host, port: first }: ListenAddress,
  bind: (port: number) => Promise<T>,
): Promise<T> {
  if (!Number.isInteger(first) || first < 0 || first > LAST_PORT)
    throw argumentInvalid(`The port must be a whole number from 0 to ${LAST_PORT}, not ${first}.`);
  const last = first === 0 ? 0 : Math.min(first + TRIES - 1, LAST_PORT);
  for (let port = first; ; port++) {
    try {
      return await bind(port);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && port < last) continue;
      const ports = port === first ? `port ${port}` : `ports ${first} to ${port}`;
      const message = `Cannot listen on ${host}, ${ports}: ${code}. Choose another port; commands have the option --port.`;
      throw new TransportError("PORT_UNAVAILABLE", message, { cause: error });
    }
  }
}
