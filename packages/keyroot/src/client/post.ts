import ky, { isHTTPError } from "ky";
import { KeyrootError, TransportError } from "../errors.ts";
import { fetchBytes, type HttpAnswer } from "../transport/fetchBytes.ts";
import type { CallOptions, CheckedOptions } from "./options.ts";
import { readProblem } from "./problem.ts";
import { abortedBy } from "./unlessAborted.ts";

/** The most bytes of an answer, after decompression: many times what a page of 1,000 users takes. */
const MAX_BYTES = 2 ** 22;

/** Statuses that pass, and after which the same request may be sent again: all operations are idempotent. */
const PASSING = [429, 502, 503, 504];
const PASSING_CODES = new Set(["UNREACHABLE", "TIMEOUT"]);
/** A service that asks for more patience than this, in ms, is asked again nevertheless. */
const MOST_PATIENCE_MS = 30_000;
const MOST_BACKOFF_MS = 10_000;

/** What goes with a request beside its body. */
export interface PostOptions extends CallOptions {
  accessToken?: string;
  /** Names this request, so that it has one effect however often it arrives. */
  idempotencyKey?: string;
}

/**
 * Sends an operation and returns the JSON of its answer, of which nothing has been checked. A request that got no answer,
 * or a passing refusal, is sent again, as the service asks (Retry-After) or after a random while that doubles.
 * @param path of the operation, from the service's address on
 * @throws ServiceError for a refusal; TransportError SERVICE_ANSWER_INVALID, and as `fetchBytes`
 */
export type Post = (path: string, body: object, options: PostOptions) => Promise<unknown>;

export function poster({ baseUrl, timeoutMs, retries, fetch }: CheckedOptions): Post {
  const { host } = new URL(baseUrl);
  return async (path, body, { accessToken, idempotencyKey, signal }) => {
    const url = baseUrl + path;
    const init: RequestInit = {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(accessToken !== undefined && { Authorization: `Bearer ${accessToken}` }),
        ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
      },
      body: JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    };
    let answer!: HttpAnswer;
    // ky says when to try again. What is sent and read is ours: within limits, and no error of ky's ever holds a token.
    const send = async () => {
      answer = await fetchBytes(url, init, { fetch, maxBytes: MAX_BYTES, timeoutMs, signal });
      return forKy(host, answer);
    };
    try {
      await ky.post(url, { fetch: send, timeout: false, retry: retryOptions(retries), ...(signal && { signal }) });
    } catch (error) {
      if (error instanceof KeyrootError) throw error;
      if (signal?.aborted) throw abortedBy(signal);
      if (!isHTTPError(error)) throw error;
    }
    return read(`${host} answers ${path}`, answer);
  };
}

function retryOptions(retries: number) {
  return {
    limit: retries,
    methods: ["post" as const],
    statusCodes: PASSING,
    afterStatusCodes: PASSING,
    maxRetryAfter: MOST_PATIENCE_MS,
    backoffLimit: MOST_BACKOFF_MS,
    jitter: true,
    shouldRetry: ({ error }: { error: Error }) =>
      error instanceof TransportError ? PASSING_CODES.has(error.code) : undefined,
  };
}

/** As much of an answer as ky needs to know. */
function forKy(host: string, { status, headers }: HttpAnswer): Response {
  if (status < 200 || status > 599) {
    const message = `${host} answers with the HTTP status ${status}, which there is not.`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { actual: status });
  }
  const retryAfter = headers.get("Retry-After");
  return new Response(null, { status, headers: retryAfter === null ? {} : { "Retry-After": retryAfter } });
}

function read(operation: string, { status, headers, bytes }: HttpAnswer): unknown {
  const text = new TextDecoder().decode(bytes);
  if (status >= 400) throw readProblem(operation, { status, headers, text });
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words may quote the text, and so a token.
    throw new TransportError("SERVICE_ANSWER_INVALID", `${operation} with something other than JSON.`);
  }
}
