import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip } from "node:zlib";

/** The request options that `fetchBytes` uses. */
type TextRequest = Pick<RequestInit, "method"> & {
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
};

/** The request headers. With these headers, a file host may return compressed files, as for clients. */
const HEADERS = { Accept: "*/*", "Accept-Encoding": "gzip, br", "User-Agent": "keyroot" };

const { Z_SYNC_FLUSH: FLUSH, BROTLI_OPERATION_FLUSH: BROTLI_FLUSH } = constants;

/**
 * A replacement of `fetch` for the library's `fetchBytes`. `nodeFetch` uses `node:http`, which takes about 1/3 of
 * `fetch`'s processor time. Publishing sends thousands of requests. `nodeFetch` does not follow redirects. The response
 * has only the properties that `fetchBytes` and `fetchMerkleFile` read. As with `fetch`, an incomplete compressed body
 * ends early without an error.
 */
export const nodeFetch: typeof fetch = (url, init) =>
  new Promise((resolve, reject) => {
    const { body, signal, method, headers } = init as TextRequest;
    const { href, protocol } = new URL(url as string);
    const request = protocol === "https:" ? requestHttps : requestHttp;
    const sent = request(href, { method, headers: { ...HEADERS, ...headers } }, (message) => {
      const encoding = message.headers["content-encoding"]?.toLowerCase() ?? "identity";
      const decoded = decode(message, encoding);
      if (decoded === undefined) {
        sent.destroy();
        reject(Object.assign(new Error("unknown content encoding"), { code: "UNKNOWN_CONTENT_ENCODING" }));
        return;
      }
      const chunks = decoded[Symbol.asyncIterator]();
      const response = {
        status: message.statusCode,
        headers: headersOf(message, encoding),
        body: { getReader: () => ({ read: () => chunks.next() }) },
      };
      resolve(response as unknown as Response);
    });
    signal?.addEventListener("abort", () => sent.destroy());
    sent.on("error", reject).end(body);
  });

function headersOf({ headers }: IncomingMessage, encoding: string): Headers {
  const kept = new Headers(encoding === "identity" ? {} : { "Content-Encoding": encoding });
  const retryAfter = headers["retry-after"];
  if (retryAfter !== undefined) kept.set("Retry-After", retryAfter);
  return kept;
}

/**
 * Decodes the body of a response (RFC 9110, section 8.4). Returns undefined for an unknown encoding. This function
 * ignores errors of the body, because `read` throws these errors.
 */
function decode(message: IncomingMessage, encoding: string): Readable | undefined {
  const ignore = () => undefined;
  switch (encoding) {
    case "identity":
    case "":
      return message.on("error", ignore);
    case "gzip":
      return pipeline(message, createGunzip({ flush: FLUSH, finishFlush: FLUSH }), ignore);
    case "br":
      return pipeline(message, createBrotliDecompress({ flush: BROTLI_FLUSH, finishFlush: BROTLI_FLUSH }), ignore);
    default:
      return undefined;
  }
}
