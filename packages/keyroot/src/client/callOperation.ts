import { decodeUtf8 } from "../engine/utf8.ts";
import { TransportError } from "../errors.ts";
import { checkBuiltins } from "../input/builtins.ts";
import { parseBoundedJson } from "../input/json.ts";
import { fetchBytes, type HttpAnswer } from "../transport/fetchBytes.ts";
import { parseUrl } from "../engine/parseUrl.ts";
import type { OperationPath } from "./operations.ts";
import type { CallOptions, CheckedConnection } from "./options.ts";
import { readProblem } from "./problem.ts";
import { sendWithRetry } from "./retry.ts";

/** The maximum size of an answer in bytes, after decompression: many times a page of 1,000 users. */
const MAX_BYTES = 2 ** 22;
/** The deepest nesting of an answer. */
const MAX_DEPTH = 16;
/** A page has up to 1,000 objects with up to 16 members each. `scanJson` allows 1,024 members in a document. */
const DOCUMENTS = 16;

/** The parts of a request other than its body. */
export interface OperationOptions extends CallOptions {
  accessToken?: string;
  /** Identifies the request, so that repeated requests have one effect. */
  idempotencyKey?: string;
}

/**
 * Sends an operation of the service and returns the JSON of its answer, unchecked. Sends it again after a transient
 * failure (see `sendWithRetry`): every operation of the service is idempotent.
 * @param path the path of the operation, appended to `serviceUrl`
 * @throws ServiceError if the service refuses; TransportError SERVICE_ANSWER_INVALID, and as `fetchBytes`
 */
export type OperationCall = (path: OperationPath, body: object, options: OperationOptions) => Promise<unknown>;

/** A function that calls the operations of the service that the options name. */
export function operationCaller({ serviceUrl, timeoutMs, retries, fetch }: CheckedConnection): OperationCall {
  const { host } = parseUrl(serviceUrl);
  return async (path, body, { accessToken, idempotencyKey, signal }) => {
    checkBuiltins();
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
      const answer = await fetchBytes(serviceUrl + path, init, { fetch, maxBytes: MAX_BYTES, timeoutMs, signal });
      return readAnswer(`${host} answers ${path}`, answer);
    };
    return sendWithRetry(send, { retries, signal });
  };
}

/** @param subject the start of error messages: the host and the operation */
function readAnswer(subject: string, { status, headers, bytes }: HttpAnswer): unknown {
  if (status < 200 || status > 599) {
    const message = `${subject} with the HTTP status ${status}, which does not exist.`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { actual: status });
  }
  const answer = parseAnswer(bytes);
  if (status >= 400) throw readProblem(subject, { status, headers, answer });
  if (answer !== undefined) return answer;
  throw new TransportError(
    "SERVICE_ANSWER_INVALID",
    `${subject} with something other than JSON, or with too many values.`,
  );
}

/** The JSON of an answer; undefined without one. The parser's error is not a cause: it may quote the text, and so a token. */
function parseAnswer(bytes: Uint8Array): unknown {
  try {
    return parseBoundedJson(decodeUtf8(bytes), MAX_DEPTH, DOCUMENTS);
  } catch {
    return undefined;
  }
}
