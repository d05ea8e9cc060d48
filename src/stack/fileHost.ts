import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { listen } from "./ports.ts";

/** The one kind of path that exists, taken literally: no query, no percent-encoding, no upper case. */
const PATH = /^\/([0-9a-f]{64})\.json$/;

/** A file is named by the root of its content, so it never changes: one year, the longest that caches honour. */
const FOREVER = "public, max-age=31536000, immutable";

/** What `open` says about a name that is no regular file: absent, a symbolic link, a socket. */
const NO_FILE = new Set(["ENOENT", "ELOOP", "EMLINK", "ENXIO"]);

/** Serves Merkle-tree files over HTTP. */
export interface FileHost {
  /** `http://<address>:<port>`, without a slash at the end; a file is at `<url>/<root>.json`. */
  readonly url: string;
  /** Ends every open connection at once and frees the port. */
  close(): Promise<void>;
}

export interface FileHostOptions {
  /** The folder that holds `<root>.json` files. Files may be added while the host runs. */
  dir: string;
  /** The address to listen on. */
  host?: string;
  /** The port to listen on; a taken one gives way to the next free one, 0 means any. */
  port: number;
}

/**
 * Serves `/<root>.json` from a folder, a root being 64 lowercase hex digits, and nothing else. Everyone may read, any
 * web page included; nobody may write.
 *
 * @throws ArgumentError `ARGUMENT_INVALID`: the port is out of range.
 * @throws TransportError `PORT_UNAVAILABLE`: there is no port to listen on.
 */
export function startFileHost({ dir, host = "127.0.0.1", port }: FileHostOptions): Promise<FileHost> {
  const server = createServer((request, response) => {
    // Once the head is out, a broken connection is the only way left to tell the reader that the body is not whole.
    answer(dir, request, response).catch(() => response.destroy());
  });
  return listen(server, { host, port });
}

async function answer(dir: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("X-Content-Type-Options", "nosniff");

  const root = PATH.exec(request.url ?? "")?.[1];
  if (root === undefined) {
    refuse(response, 404);
  } else if (request.method === "GET" || request.method === "HEAD") {
    await serve(dir, root, request, response);
  } else if (request.method === "OPTIONS") {
    response.writeHead(204, {
      Allow: "GET, HEAD, OPTIONS",
      "Access-Control-Allow-Methods": "GET, HEAD",
      "Access-Control-Allow-Headers": "*",
      "Access-Control-Max-Age": "86400",
    });
    response.end();
  } else {
    refuse(response.setHeader("Allow", "GET, HEAD, OPTIONS"), 405);
  }
}

async function serve(dir: string, root: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let file: FileHandle;
  try {
    // Not through a link, and without waiting for the other end of a named pipe.
    file = await open(join(dir, `${root}.json`), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    refuse(response, NO_FILE.has((error as NodeJS.ErrnoException).code ?? "") ? 404 : 500);
    return;
  }
  try {
    const stat = await file.stat();
    if (stat.isFile()) await send(file, stat.size, root, request, response);
    else refuse(response, 404);
  } finally {
    await file.close();
  }
}

async function send(
  file: FileHandle,
  size: number,
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const etag = `"${root}"`;
  response.setHeader("Cache-Control", FOREVER).setHeader("ETag", etag);
  if (names(request.headers["if-none-match"], etag)) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": size });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  const content = file.createReadStream({ start: 0, end: Math.max(size - 1, 0) });
  await pipeline(content, response, { end: false });
  // A file that shrank while it was read leaves the reader waiting for the rest.
  if (content.bytesRead === size) response.end();
  else response.destroy();
}

/** Whether an If-None-Match header names this tag. */
function names(header: string | undefined, etag: string): boolean {
  const tags = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes(etag) || tags.includes("*");
}

/** Says no in the same words to everyone, whatever the reason was. */
function refuse(response: ServerResponse, status: number): void {
  const body = `${STATUS_CODES[status] ?? "Error"}\n`;
  response.writeHead(status, {
    "Cache-Control": "no-store",
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}
