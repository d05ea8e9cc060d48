import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** What `fetchBytes` of the library passes for a request whose body is a text. */
type TextRequest = Pick<RequestInit, "method"> & {
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
};

/**
 * Sends a request for `fetchBytes` of the library by `node:http`, in a third of the processor time of `fetch`: publishing
 * sends thousands of JSON-RPC calls. It asks for no compression, and does not follow redirects. The response has only what
 * `fetchBytes` reads, and no headers.
 */
export const nodeFetch: typeof fetch = (url, init) =>
  new Promise((resolve, reject) => {
    const { body, signal, ...options } = init as TextRequest;
    const { href, protocol } = new URL(url as string);
    const request = protocol === "https:" ? requestHttps : requestHttp;
    const sent = request(href, options, (message) => {
      // `read` throws the error of an answer. An answer that is no longer read fails when it is aborted.
      message.on("error", () => undefined);
      const chunks = message[Symbol.asyncIterator]();
      const getReader = () => ({ read: () => chunks.next() });
      resolve({ status: message.statusCode, headers: new Headers(), body: { getReader } } as unknown as Response);
    });
    signal?.addEventListener("abort", () => sent.destroy());
    sent.on("error", reject).end(body);
  });
