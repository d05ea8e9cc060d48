import { withResolvers } from "../engine/language.ts";
import { normalizeUrl, parseUrl } from "../engine/parseUrl.ts";
import { requireFeature } from "../engine/requireFeature.ts";
import { TransportError } from "../errors.ts";
import { checkNames } from "../input/options.ts";

/** The options of an HTTP request. */
export interface FetchOptions {
  /** The function that sends the request; default `globalThis.fetch`. It must support `signal` and `redirect`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** The maximum size of the answer in bytes, after decompression. */
  maxBytes: number;
  /** The maximum time until the last byte of the answer, in milliseconds. */
  timeoutMs: number;
  /** The latest end of the request, as `monotonicNow` counts. Default: only `timeoutMs` applies. */
  deadline?: number | undefined;
  /** Allows plain http to other machines than this one. Default false. `fetchBytes` itself allows both. */
  allowHttp?: boolean | undefined;
  /** Aborts the request, which then fails with ABORTED. */
  signal?: AbortSignal | undefined;
}

export const FETCH_OPTIONS: (keyof FetchOptions)[] = [
  ...(["fetch", "maxBytes", "timeoutMs", "deadline", "allowHttp", "signal"] as const),
];

/** The answer of an HTTP server. */
export interface HttpAnswer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

/**
 * Sends an HTTP request and reads the whole answer within the limits. Does not follow redirects. Error messages contain
 * only the host, because the rest of a URL may contain a secret.
 * @throws TransportError UNREACHABLE, REDIRECT_REFUSED, ANSWER_TOO_LARGE, TIMEOUT, ABORTED; EnvironmentError
 * ENVIRONMENT_UNSUPPORTED
 */
export async function fetchBytes(url: string, init: RequestInit, options: FetchOptions): Promise<HttpAnswer> {
  const { maxBytes, signal } = checkNames("The options", options, FETCH_OPTIONS);
  const fetch =
    options.fetch ??
    requireFeature("fetch", (globalThis as Partial<typeof globalThis>).fetch, "whatwg-fetch, or the option fetch");
  const { host } = parseUrl(url);
  return withTimeout(host, timeLeft(options), signal, async (signal) => {
    let response: Response;
    let isRefused: boolean;
    let bytes: Uint8Array | undefined;
    try {
      response = await fetch(url, { ...init, redirect: "manual", signal });
      isRefused = isRedirect(response, url);
      if (!isRefused) bytes = await readAtMost(response, maxBytes);
    } catch (cause) {
      throw new TransportError("UNREACHABLE", `The request to ${host} failed${reasonOf(cause)}.`, { cause });
    }
    if (isRefused) {
      throw new TransportError("REDIRECT_REFUSED", `${host} answered with a redirect, which is not followed.`);
    }
    // The status is enough: the body of a large error page is not needed.
    if (bytes === undefined && response.status >= 400) bytes = new Uint8Array();
    if (bytes === undefined) {
      const message = `The answer of ${host} has more than ${maxBytes} bytes.`;
      throw new TransportError("ANSWER_TOO_LARGE", message, { expected: maxBytes });
    }
    return { status: response.status, headers: response.headers, bytes };
  });
}

/** The time in ms since a fixed point. */
export function monotonicNow(): number {
  const { performance } = globalThis as { performance?: Performance };
  return performance === undefined ? Date.now() : performance.now();
}

/** The time that a request may take, in whole milliseconds. */
export function timeLeft({ timeoutMs, deadline = Infinity }: Pick<FetchOptions, "timeoutMs" | "deadline">): number {
  return Math.max(1, Math.floor(Math.min(timeoutMs, deadline - monotonicNow())));
}

/**
 * Runs `work` until `timeoutMs` have passed or `signal` is aborted, even if the work ignores its own signal. Aborts the
 * work's signal at the end in any case, which closes everything that is still open.
 * @param subject the name of the other side, for error messages
 * @throws TransportError TIMEOUT, ABORTED; and as the work
 */
export async function withTimeout<T>(
  subject: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { AbortController, setTimeout }: Partial<typeof globalThis> = globalThis;
  requireFeature("setTimeout", setTimeout, "in the engine's host");
  const ended = new (requireFeature("AbortController", AbortController, "abort-controller/polyfill"))();
  const { promise: failed, reject: fail } = withResolvers<never>();
  const abort = () => {
    fail(new TransportError("ABORTED", "The caller aborted the request.", { cause: signal?.reason }));
  };
  // The timer of AbortSignal.timeout lasts longer than the request, and does not keep Node running.
  const timer = setTimeout(() => {
    fail(new TransportError("TIMEOUT", `${subject} did not finish within ${timeoutMs} ms.`));
  }, timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    if (signal?.aborted) abort();
    return await Promise.race([failed, signal?.aborted ? failed : work(ended.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // The default reason records a stack, which would cost more than everything else here.
    ended.abort("ended");
  }
}

/** Reads a body. Stops and returns undefined when it is larger than `maxBytes`. */
async function readAtMost(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const { body, headers } = response as Partial<Response>;
  if (typeof body?.getReader !== "function") {
    // React Native's fetch has no streams, and reads the whole body. The declared length is that before decompression.
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
 * Whether a response is a redirect (RFC 9110, section 15.4), or comes from another URL: React Native's fetch follows
 * redirects by itself. Browsers hide the status. 304 names no other place.
 * @param asked the URL of the request
 */
function isRedirect({ type, status, redirected, url }: Response, asked: string): boolean {
  if (type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304) || redirected) return true;
  // A fetch of an app's own code may leave out the URL.
  return Boolean(url) && url !== asked && !isSameUrl(url, asked);
}

/** Whether two URLs differ at most in their notation and fragment. */
function isSameUrl(a: string, b: string): boolean {
  try {
    return normalizeUrl(a) === normalizeUrl(b);
  } catch {
    return false;
  }
}

/**
 * The reason of a failed fetch: Node's error code, such as ECONNREFUSED, which is in the cause of an error "fetch failed".
 * The message is not used, because some runtimes put the whole URL into it.
 */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = inner instanceof Error && "code" in inner ? inner.code : undefined;
  return typeof code === "string" ? `: ${code}` : "";
}
