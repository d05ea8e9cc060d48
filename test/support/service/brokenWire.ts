import { connect, type Socket } from "node:net";
import { serveRaw } from "../servers/servers.ts";

/** A TCP proxy that a test can interrupt. */
export interface BrokenWire {
  /** The server's URL, through the proxy. */
  readonly url: string;
  /** Ends all connections, and rejects new ones until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy for the server at a URL with host and port. */
export async function wireTo(url: string): Promise<BrokenWire> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const listening = await serveRaw((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  return {
    url: Object.assign(new URL(url), { hostname: "127.0.0.1", port: String(listening.port) }).href,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      isCut = false;
    },
    close: () => listening.close(),
  };
}
