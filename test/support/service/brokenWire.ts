import { connect, createServer, type Socket } from "node:net";
import { listen } from "../../../packages/operator/src/stack/ports.ts";

/** A way to a TCP server that a test can cut. */
export interface BrokenWire {
  /** The server's address, over this way. */
  readonly url: string;
  /** Ends every connection, and refuses new ones until it is mended. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Passes all that comes on to the server of an address with host and port, and back. */
export async function wireTo(url: string): Promise<BrokenWire> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
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
  const listening = await listen(server, { host: "127.0.0.1", port: 0 });
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
