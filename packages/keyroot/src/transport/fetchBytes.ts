import { TransportError } from "../errors.ts";

/** How much an answer may cost whoever asks. */
export interface Limits {
  /** The most bytes of a Merkle-tree file, after decompression. Default 16 MiB: some 20,000 users. */
  fileBytes: number;
  /** The most bytes of an answer to a JSON-RPC call, after decompression. Default 1 MiB. */
  rpcBytes: number;
  /** The most milliseconds from a request to the last byte of its answer. Default 30,000. */
  timeoutMs: number;
}

export const DEFAULT_LIMITS: Limits = { fileBytes: 2 ** 24, rpcBytes: 2 ** 20, timeoutMs: 30_000 };

/** One exchange over HTTP, and what it may cost. */
export interface FetchOptions {
  /** Fetches; default the global one. It must heed `signal` and `redirect`. */
  fetch?: typeof globalThis.fetch | undefined;
  maxBytes: number;
  timeoutMs: number;
  /** Ends the request early, with ABORTED. */
  signal?: AbortSignal | undefined;
}

/** What an HTTP server answered. */
export interface HttpAnswer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

/**
 * Sends a request and reads the whole answer within its limits, without following redirects. Messages name the host
 * only: the rest of an address may hold a secret.
 * @throws TransportError UNREACHABLE, REDIRECT_REFUSED, ANSWER_TOO_LARGE, TIMEOUT, ABORTED
 */
export async function fetchBytes(url: string, init: RequestInit, options: FetchOptions): Promise<HttpAnswer> {
  const { fetch = globalThis.fetch, maxBytes, timeoutMs, signal } = options;
  const { host } = new URL(url);
  return withinTime(host, timeoutMs, signal, async (within) => {
    let response: Response;
    let bytes: Uint8Array | undefined;
    try {
      response = await fetch(url, { ...init, redirect: "manual", signal: within });
      if (!isRedirect(response)) bytes = await readAtMost(response, maxBytes);
    } catch (cause) {
      throw new TransportError("UNREACHABLE", `${host} does not answer${reasonOf(cause)}.`, { cause });
    }
    if (isRedirect(response)) {
      throw new TransportError("REDIRECT_REFUSED", `${host} answers with a redirect, which is not followed.`);
    }
    if (bytes === undefined) {
      const message = `${host} answers with more than ${maxBytes} bytes, the limit that was set.`;
      throw new TransportError("ANSWER_TOO_LARGE", message, { expected: maxBytes });
    }
    return { status: response.status, headers: response.headers, bytes };
  });
}

/**
 * Runs `work` and gives up after `timeoutMs`, or as soon as `signal` says so, whether or not the work heeds the signal
 * that it is handed. That signal is given at the end in any case: whatever is still open is closed.
 * @throws TransportError TIMEOUT, ABORTED; and what the work throws
 */
export async function withinTime<T>(
  who: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (within: AbortSignal) => Promise<T>,
): Promise<T> {
  const within = new AbortController();
  const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>();
  const abort = () => {
    giveUp(new TransportError("ABORTED", "The caller ended the request.", { cause: signal?.reason }));
  };
  // Not AbortSignal.timeout: its timer outlives the request, and Node would not wait for it.
  const timer = setTimeout(() => {
    giveUp(new TransportError("TIMEOUT", `${who} did not answer in full within ${timeoutMs} ms.`));
  }, timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    if (signal?.aborted) abort();
    return await Promise.race([givenUp, signal?.aborted ? givenUp : work(within.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // With a reason of its own: one that is made takes its stack, which costs more than all the rest here.
    within.abort("over");
  }
}

/** Reads a body; answers undefined, and stops reading, when it is larger than `maxBytes`. */
async function readAtMost(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
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

/** Browsers hide a redirect's status. */
function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}

/**
 * Why a fetch failed: Node's code for it, such as ECONNREFUSED, one level below an error that says "fetch failed".
 * Nothing else: some runtimes write the whole address into the message.
 */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = inner instanceof Error && "code" in inner ? inner.code : undefined;
  return typeof code === "string" ? `: ${code}` : "";
}
