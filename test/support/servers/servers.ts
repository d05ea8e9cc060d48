import { readFile } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { type Listening, listen } from "../../../packages/operator/src/http/listen.ts";

/** Any free port of this machine. */
const ANYWHERE = { host: "127.0.0.1", port: 0 };

/** Serves HTTP. */
export function serve(handler: RequestListener): Promise<Listening> {
  return listen(createHttpServer(handler), ANYWHERE);
}

/** Serves the files of a folder. */
export function serveFolder(dir: string): Promise<Listening> {
  return serve((request, response) => {
    readFile(join(dir, request.url ?? "")).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
}

/** Returns the URL of a server that does not run. */
export async function goneUrl(): Promise<string> {
  const server = await serve(() => undefined);
  await server.close();
  return server.url;
}

/** Serves TCP. `handler` writes any bytes, also invalid HTTP. */
export function serveRaw(handler: (socket: Socket) => void): Promise<Listening> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => socket.destroy());
    handler(socket);
  });
  return listen(server, ANYWHERE);
}
