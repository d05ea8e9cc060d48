import { normalizeUrl, parseUrl } from "../engine/parseUrl.ts";
import { requireFeature } from "../engine/requireFeature.ts";
import { TransportError } from "../errors.ts";
import { timeLeft, withTimeout } from "./timeout.ts";

export interface FetchOptions {
  /** The function that sends the request. It must support `signal` and `redirect`. Default: `globalThis.fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Maximum size of the response in bytes, after decompression. */
  maxBytes: number;
  /** Maximum time until the last byte of the response, in ms. */
  timeoutMs: number;
  /** The time at which the request must end, in the time of `monotonicNow`. Default: only `timeoutMs` applies. */
  deadline?: number | undefined;
  /**
   * True to allow unencrypted http requests to other machines. Default: false. `fetchBytes` itself ignores this option.
   */
  allowHttp?: boolean | undefined;
  /** A signal that aborts the request. The request then fails with TransportError ABORTED. */
  signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

/**
 * Sends an HTTP request and reads the whole response within the limits. Redirects are not followed. Error messages
 * contain only the host of the URL, because its other parts may contain a secret.
 * @throws TransportError UNREACHABLE, REDIRECT_REFUSED, ANSWER_TOO_LARGE, TIMEOUT, ABORTED
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED
 */
export async function fetchBytes(url: string, init: RequestInit, options: FetchOptions): Promise<HttpAnswer> {
  const { maxBytes, signal } = options;
  const fetch =
    options.fetch ??
    requireFeature("fetch", (globalThis as Partial<typeof globalThis>).fetch, "whatwg-fetch, or set the fetch option");
  const { host } = parseUrl(url);
  return withTimeout(host, timeLeft(options.timeoutMs, options.deadline), signal, async (signal) => {
    let response: Response;
    let bytes: Uint8Array | undefined;
    try {
      response = await fetch(url, { ...supported(init), redirect: "manual", signal });
      if (isRedirect(response, url)) throw new TransportError("REDIRECT_REFUSED", `${host} returned a redirect.`);
      bytes = await readAtMost(response, maxBytes);
    } catch (cause) {
      if (cause instanceof TransportError) throw cause;
      throw new TransportError("UNREACHABLE", `The request to ${host} failed${reasonOf(cause)}.`, { cause });
    }
    // For an error page, the status is enough, and its body may be too large.
    if (bytes === undefined && response.status >= 400) bytes = new Uint8Array();
    if (bytes === undefined) {
      const message = `${host} returned more than ${maxBytes} bytes.`;
      throw new TransportError("ANSWER_TOO_LARGE", message, { expected: maxBytes });
    }
    return { status: response.status, headers: response.headers, bytes };
  });
}

/**
 * Removes the `cache` field from the options of a request on platforms that do not support it. With this field, older
 * Cloudflare Workers would reject the request, and React Native would change its URL.
 */
function supported({ cache, ...init }: RequestInit): RequestInit {
  const { Request } = globalThis as Partial<typeof globalThis>;
  return cache !== undefined && Request !== undefined && "cache" in Request.prototype ? { ...init, cache } : init;
}

/** Reads the body of a response. The result is undefined as soon as the body is larger than `maxBytes`. */
async function readAtMost(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const { body, headers } = response as Partial<Response>;
  if (typeof body?.getReader !== "function") {
    // React Native's fetch has no streams, and reads the whole body. The declared length is the length before
    // decompression.
    if (Number(headers?.get("Content-Length")) > maxBytes) return undefined;
    const bytes = new Uint8Array(await response.arrayBuffer());
    return bytes.length > maxBytes ? undefined : bytes;
  }
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) return undefined;
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/**
 * Checks whether a response is a redirect (RFC 9110, section 15.4) or comes from another URL. The status alone is not
 * enough, because React Native's fetch always follows redirects, and browsers hide their status. The status 304 is not
 * a redirect.
 * @param asked the URL of the request
 */
function isRedirect({ type, status, redirected, url }: Response, asked: string): boolean {
  if (type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304) || redirected) return true;
  // The URL may be missing if the app passes its own fetch function.
  return Boolean(url) && !isSameUrl(url, asked);
}

/** Checks whether two URLs are the same. Spelling and fragment may differ. */
function isSameUrl(a: string, b: string): boolean {
  try {
    return normalizeUrl(a) === normalizeUrl(b);
  } catch {
    return false;
  }
}

/**
 * Returns the end of the error message for a failed fetch. In Node, it is the error code, such as ECONNREFUSED, from
 * the cause of the error "fetch failed". The original message is not quoted, because in some runtimes it includes the
 * whole URL.
 */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = inner instanceof Error && "code" in inner ? inner.code : undefined;
  return typeof code === "string" ? `: ${code}` : "";
}
