import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { headersOf } from "./readSite.ts";
import { listen } from "../http/listen.ts";
import type { ExplorerConfig } from "./config.ts";
import { type ExplorerFiles, makeExplorer } from "./makeExplorer.ts";

/** A running web server with an explorer. */
export interface ExplorerServer extends AsyncDisposable {
  /** The URL of the page: `http://localhost:<port>/`. */
  readonly url: string;
  /** Closes all open connections at once, and frees the port. */
  close(): Promise<void>;
}

/** A web server whose URL is known before its explorer. */
export interface OpenedExplorer extends ExplorerServer {
  /** Serves an explorer. Until then, every response is 503. @throws TransportError FILE_UNREADABLE */
  serve(config: ExplorerConfig): Promise<void>;
}

/**
 * Opens a web server on this machine that can serve an explorer later. Until `serve` is called, it responds with status
 * 503.
 * @param port the first port to try, or 0 for any free one. Ports in use are skipped
 * @throws TransportError PORT_UNAVAILABLE
 */
export async function openExplorer(port: number): Promise<OpenedExplorer> {
  let explorer: ExplorerFiles | undefined;
  const compressed = new Map<string, Uint8Array>();
  const server = createServer((request, response) => {
    if (explorer !== undefined) respond(explorer, compressed, request, response);
    else response.writeHead(503, { "Content-Type": "text/plain", "Retry-After": "1" }).end("Not ready yet\n");
  });
  const listening = await listen(server, { host: "127.0.0.1", port });
  const serve = async (config: ExplorerConfig) => {
    explorer = await makeExplorer(config);
  };
  const close = () => listening.close();
  return { url: `http://localhost:${listening.port}/`, serve, close, [Symbol.asyncDispose]: close };
}

/**
 * Serves an explorer on this machine.
 * @param port the first port to try, or 0 for any free one. Ports in use are skipped
 * @throws TransportError FILE_UNREADABLE, PORT_UNAVAILABLE
 */
export async function serveExplorer(config: ExplorerConfig, port: number): Promise<ExplorerServer> {
  const opened = await openExplorer(port);
  await opened.serve(config).catch(async (error: unknown) => {
    await opened.close();
    throw error;
  });
  return opened;
}

function respond(
  { files, policy }: ExplorerFiles,
  compressed: Map<string, Uint8Array>,
  { method, url = "", headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const name = url === "/" ? "index.html" : url.slice(1);
  const content = files.get(name);
  response.setHeader("Content-Security-Policy", `${policy}; frame-ancestors 'none'`);
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Referrer-Policy", "no-referrer");
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  if (content === undefined || (method !== "GET" && method !== "HEAD")) {
    response.writeHead(content === undefined ? 404 : 405, { "Content-Type": "text/plain" }).end("Not found\n");
    return;
  }
  for (const [header, value] of Object.entries(headersOf(name))) response.setHeader(header, value);
  response.setHeader("Vary", "Accept-Encoding");
  let body = content;
  if (/\bgzip\b/.test(String(headers["accept-encoding"]))) {
    body = compressed.get(name) ?? gzipSync(content);
    compressed.set(name, body);
    response.setHeader("Content-Encoding", "gzip");
  }
  response.writeHead(200, { "Content-Length": body.length }).end(method === "HEAD" ? undefined : body);
}
