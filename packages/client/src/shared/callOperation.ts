import { decodeUtf8, parseUrl } from "keyroot/internal/engine";
import { TransportError } from "../errors.ts";
import { parseBoundedJson } from "keyroot/internal/input";
import { fetchBytes, type HttpAnswer } from "keyroot/internal/transport";
import type { OperationPath } from "./operations.ts";
import type { CallOptions, CheckedConnection } from "./options.ts";
import { readProblem } from "./problem.ts";
import { sendWithRetry } from "./retry.ts";

/** Maximum size of a response in bytes, after decompression. A page of 1,000 users is many times smaller. */
const MAX_BYTES = 2 ** 22;
const MAX_DEPTH = 16;
/**
 * The limits of `parseBoundedJson` grow with the number of documents. A response counts as 16 documents, because a page
 * has up to 1,000 objects of up to 16 members.
 */
const DOCUMENTS = 16;

export interface OperationOptions extends CallOptions {
  accessToken?: string;
  /** The key that identifies repeated requests. The service executes requests with the same key only once. */
  idempotencyKey?: string;
}

/**
 * Returns a function that calls a service's operations and returns their JSON unchecked. After a transient failure, the
 * function repeats the request (see `sendWithRetry`). This is safe, because every operation is idempotent.
 * @throws ServiceError if the service rejects the request
 * @throws TransportError SERVICE_ANSWER_INVALID, or an error of `fetchBytes`
 */
export function operationCaller({ serviceUrl, timeoutMs, retries, fetch }: CheckedConnection) {
  const { host } = parseUrl(serviceUrl);
  return async (path: OperationPath, body: object, options: OperationOptions): Promise<unknown> => {
    const { accessToken, idempotencyKey, signal } = options;
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
    const send = async () => {
      const sent = fetchBytes(serviceUrl + path, init, { fetch, maxBytes: MAX_BYTES, timeoutMs, signal });
      return readAnswer(host, path, await sent.catch(addRemedy));
    };
    return sendWithRetry(send, { retries, signal });
  };
}

/** Throws the error again. If the service is unreachable, the new message also says what to check. */
function addRemedy(error: unknown): never {
  if (!(error instanceof TransportError && error.code === "UNREACHABLE")) throw error;
  const message = `${error.message} Check the serviceUrl option, the network, and whether the service runs.`;
  throw new TransportError("UNREACHABLE", message, { cause: error.cause });
}

function readAnswer(host: string, path: string, { status, headers, bytes }: HttpAnswer): unknown {
  if (status < 200 || status > 599) {
    const message = `${host} returned the HTTP status ${status} for ${path}.`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { actual: status });
  }
  const answer = parseAnswer(bytes);
  if (status >= 400) throw readProblem(host, path, { status, headers, answer });
  if (answer !== undefined) return answer;
  const message = `${host} returned no JSON for ${path}, or too many values.`;
  throw new TransportError("SERVICE_ANSWER_INVALID", message);
}

/** Parses JSON. For any other text, it returns undefined and drops the parser's error, which may contain a token. */
function parseAnswer(bytes: Uint8Array): unknown {
  try {
    return parseBoundedJson(decodeUtf8(bytes), MAX_DEPTH, DOCUMENTS);
  } catch {
    return undefined;
  }
}
