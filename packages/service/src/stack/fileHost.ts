import { constants } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isUserID } from "keyroot/internal/identity";
import { MERKLE_ROOT } from "keyroot/internal/merkle";
import { ACCOUNT_FILE_CACHE } from "@keyroot/operator/publisher";
import { checkOptions, listen } from "@keyroot/operator/shared";

/** The exact form of all valid paths. Queries, percent-encoding and uppercase letters are not accepted. */
const PATH = new RegExp(
  `^/(?<root>${MERKLE_ROOT.source.slice(1, -1)})(?:/(?<userID>[a-z0-9]{32})(?<bundle>\\.bundle)?)?\\.json$`,
);

/** The form of account files' paths. */
const ACCOUNT_PATH = /^\/accounts\/(?<name>[0-9a-f]{40}(?:\.next)?\.txt)$/;

/** Cache-Control for content that never changes. Caches support at most one year. */
const FOREVER = "public, max-age=31536000, immutable";
/** Cache-Control for bundles. Under the same URL, a bundle of a newer block can replace an older one. */
const REVALIDATE = "no-cache";

/** Error codes of `open` for a name that does not exist, or that is a symbolic link or a socket. */
const NO_FILE = new Set(["ENOENT", "ELOOP", "EMLINK", "ENXIO"]);

/** A server of Merkle-tree files, and users' proofs and bundles over HTTP. */
export interface FileHost {
  /** The host's URL, `http://<address>:<port>`, without a trailing slash. A file is at `<url>/<root>.json`. */
  readonly url: string;
  /** Closes all open connections immediately and frees the port. */
  close(): Promise<void>;
}

export interface FileHostOptions {
  /** The folder with the files. It has the same layout as the URLs. Files may be added while the host runs. */
  dir: string;
  /** More folders with the same layout, for files that `dir` does not contain. */
  otherDirs?: readonly string[];
  host?: string;
  /** The port to listen on, or 0 for any free port. If it is in use, the next free port is used. */
  port: number;
}

/**
 * Serves files from a folder, and accepts no writes. Web pages of any origin may read them. It serves only the
 * following files, where a root is 64 lowercase hex digits:
 * - Merkle-tree files: `/<root>.json`, compressed if the folder has `<root>.json.br` and the client accepts Brotli
 * - users' proofs: `/<root>/<userID>.json`
 * - bundles: `/<root>/<userID>.bundle.json`
 * - account files: `/accounts/<account id in hex>.txt`, and `.next.txt` for a change that is being published
 * @throws ArgumentError `ARGUMENT_INVALID` if the port is out of range
 * @throws TransportError `PORT_UNAVAILABLE` if there is no free port
 */
export function startFileHost(options: FileHostOptions): Promise<FileHost> {
  checkOptions("The options of startFileHost", options, { dir: true, otherDirs: true, host: true, port: true });
  const { dir, otherDirs = [], host = "127.0.0.1", port } = options;
  const server = createServer((request, response) => {
    // After the headers are sent, only a closed connection shows the client that the body is incomplete.
    respond([dir, ...otherDirs], request, response).catch(() => response.destroy());
  });
  return listen(server, { host, port });
}

async function respond(dirs: readonly string[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("X-Content-Type-Options", "nosniff");

  const resource = resourceAt(request.url ?? "");
  if (resource === undefined) {
    reject(response, 404);
  } else if (request.method === "GET" || request.method === "HEAD") {
    await serve(dirs, resource, request, response);
  } else if (request.method === "OPTIONS") {
    response.writeHead(204, {
      Allow: "GET, HEAD, OPTIONS",
      "Access-Control-Allow-Methods": "GET, HEAD",
      "Access-Control-Allow-Headers": "*",
      "Access-Control-Max-Age": "86400",
    });
    response.end();
  } else {
    reject(response.setHeader("Allow", "GET, HEAD, OPTIONS"), 405);
  }
}

/** The file at a URL path. */
interface Resource {
  /** The file's folder, relative to the served folder. */
  folder: string;
  name: string;
  /** The content's entity tag. Undefined if the path does not determine the content. */
  etag: string | undefined;
  /** The Cache-Control of the content. Default: depends on `etag`. */
  cache?: string;
  encoding?: "br";
}

function resourceAt(url: string): Resource | undefined {
  const account = ACCOUNT_PATH.exec(url)?.groups?.["name"];
  if (account !== undefined) return { folder: "accounts", name: account, etag: undefined, cache: ACCOUNT_FILE_CACHE };
  const { root = "", userID, bundle = "" } = PATH.exec(url)?.groups ?? {};
  if (root === "" || (userID !== undefined && !isUserID(userID))) return undefined;
  if (userID === undefined) return { folder: "", name: `${root}.json`, etag: `"${root}"` };
  const etag = bundle ? undefined : `"${root}/${userID}"`;
  return { folder: root, name: `${userID}${bundle}.json`, etag };
}

async function serve(
  dirs: readonly string[],
  resource: Resource,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const found = await find(dirs, variantsOf(resource, request)).catch(() => "unreadable" as const);
  if (found === undefined || found === "unreadable") {
    reject(response, found === undefined ? 404 : 500);
    return;
  }
  const { file, variant } = found;
  try {
    const stat = await file.stat();
    if (stat.isFile()) await send(file, stat.size, variant, request, response);
    else reject(response, 404);
  } finally {
    await file.close();
  }
}

/** Returns the compressed copy of a Merkle-tree file, if the client accepts it, and the file itself. */
function variantsOf(resource: Resource, { headers }: IncomingMessage): Resource[] {
  const { folder, name, etag } = resource;
  const acceptsBrotli = /(?:^|,)\s*br\s*(?:,|$)/.test(String(headers["accept-encoding"]));
  if (folder !== "" || etag === undefined || !acceptsBrotli) return [resource];
  return [{ ...resource, name: `${name}.br`, etag: `"${name}.br"`, encoding: "br" }, resource];
}

/** Opens the first variant that a folder contains. */
async function find(dirs: readonly string[], variants: readonly Resource[]) {
  for (const variant of variants) {
    for (const dir of dirs) {
      const file = await openIn(dir, variant);
      if (file !== undefined) return { file, variant };
    }
  }
  return undefined;
}

/** Opens a file in a folder. @returns undefined if the folder does not contain the file */
async function openIn(dir: string, { folder, name }: Resource): Promise<FileHandle | undefined> {
  try {
    // Do not follow links, and do not wait for the other end of a named pipe.
    if (folder !== "" && !(await lstat(join(dir, folder))).isDirectory()) return undefined;
    return await open(join(dir, folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (NO_FILE.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

async function send(
  file: FileHandle,
  size: number,
  { etag, cache = etag === undefined ? REVALIDATE : FOREVER, name, encoding }: Resource,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader("Cache-Control", cache);
  response.setHeader("Vary", "Accept-Encoding");
  if (etag !== undefined) {
    response.setHeader("ETag", etag);
    if (matches(request.headers["if-none-match"], etag)) {
      response.writeHead(304).end();
      return;
    }
  }
  response.writeHead(200, {
    "Content-Type": name.endsWith(".txt") ? "text/plain; charset=utf-8" : "application/json",
    "Content-Length": size,
    ...(encoding && { "Content-Encoding": encoding }),
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  const content = file.createReadStream({ start: 0, end: Math.max(size - 1, 0) });
  await pipeline(content, response, { end: false });
  // If the file became shorter during the transfer, close the connection. After a normal end, the client would wait for
  // the missing bytes.
  if (content.bytesRead === size) response.end();
  else response.destroy();
}

/** Whether an If-None-Match header contains an entity tag. */
function matches(header: string | undefined, etag: string): boolean {
  const tags = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes(etag) || tags.includes("*");
}

/** Sends an error response without details. */
function reject(response: ServerResponse, status: number): void {
  const body = `${STATUS_CODES[status] ?? "Error"}\n`;
  response.writeHead(status, {
    "Cache-Control": "no-store",
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}
