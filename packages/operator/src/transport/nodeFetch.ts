import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** What `fetchBytes` of the library passes. */
type TextRequest = Pick<RequestInit, "method"> & {
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
};

/** How a body may be compressed (RFC 9110, section 8.4.1). */
const DECOMPRESS: Record<string, typeof createGunzip | typeof createBrotliDecompress> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Sends a request for `fetchBytes` of the library by `node:http`, in a third of the processor time of `fetch`: publishing
 * sends thousands of requests. It asks for compression as clients do, and does not follow redirects. The response has only
 * what `fetchBytes` reads, and no headers: a compressed body that is cut off fails.
 */
export const nodeFetch: typeof fetch = (url, init) =>
  new Promise((resolve, reject) => {
    const { body, signal, method, headers } = init as TextRequest;
    const { href, protocol } = new URL(url as string);
    const request = protocol === "https:" ? requestHttps : requestHttp;
    const options = { method, headers: { ...headers, "Accept-Encoding": Object.keys(DECOMPRESS).join(", ") } };
    const sent = request(href, options, (message) => {
      const chunks = bodyOf(message)[Symbol.asyncIterator]();
      const getReader = () => ({ read: () => chunks.next() });
      resolve({ status: message.statusCode, headers: new Headers(), body: { getReader } } as unknown as Response);
    });
    signal?.addEventListener("abort", () => sent.destroy());
    sent.on("error", reject).end(body);
  });

/** `read` throws the error of a body. A body that is no longer read fails when it is aborted. */
function bodyOf(message: IncomingMessage): Readable {
  const decompress = DECOMPRESS[message.headers["content-encoding"]?.toLowerCase() ?? ""];
  if (decompress !== undefined) return pipeline(message, decompress(), () => undefined);
  return message.on("error", () => undefined);
}
