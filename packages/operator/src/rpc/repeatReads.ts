import { TransportError } from "keyroot/internal/errors";
import type { RpcCall } from "keyroot/internal/transport";
import { DEFAULT_RETRY, isTransient, type RetryOptions, withRetry } from "../http/retry.ts";
import { acceptBlockHashes } from "./blockHashParameter.ts";
import type { Meaning } from "./nodeAnswer.ts";
import { isSend, nodeAnswerTo } from "./nodeAnswers.ts";

/** The options of repeated reads, in addition to the retries. */
interface Repeating {
  /** The method of the request. Default: any read. */
  method?: string;
  /** The answers that are not repeated. Default: none. */
  except?: readonly Meaning[];
  /** Ends the repetition. The read then throws TransportError ABORTED. Default: none. */
  signal?: AbortSignal | undefined;
}

/**
 * Repeats a failed read as long as `nodeAnswerTo` advises it and `retry` allows it.
 * @throws the last error of `read`. Its message contains the remedy for the node's answer
 */
export async function repeatRead<T>(
  read: () => Promise<T>,
  retry: RetryOptions = DEFAULT_RETRY,
  { method = "", except = [], signal }: Repeating = {},
): Promise<T> {
  return withRetry(
    async () => {
      try {
        return await read();
      } catch (error) {
        throw withRemedy(error, method);
      }
    },
    retry,
    (error) => {
      const { reaction, means } = nodeAnswerTo(error, method);
      return (
        (reaction === "repeat" || (method === "" && isTransient(error))) &&
        (means === undefined || !except.includes(means))
      );
    },
    signal,
  );
}

/**
 * Creates a function that repeats reads after temporary failures. Transactions are sent only once. A request for logs
 * is not repeated if the caller should ask for fewer blocks instead.
 * @param call sends one request
 * @param signal ends the repetition of reads
 * @throws the last error of `call`, with the remedy for the node's answer
 */
export function repeatingCaller(call: RpcCall, retry: RetryOptions = DEFAULT_RETRY, signal?: AbortSignal): RpcCall {
  const callOnce = acceptBlockHashes(call);
  return async (method, params) => {
    if (isSend(method)) return call(method, params);
    const repeating = { method: isOneBlock(method, params) ? "" : method, signal };
    return repeatRead(() => callOnce(method, params), retry, repeating);
  };
}

/** Thrown inside `readUntil` for a result that does not hold. */
class Unsettled extends Error {}

/**
 * Repeats a read until its result is consistent, as often as `retry` allows. A result can be inconsistent if a node
 * that is behind the other nodes answered a part of the read.
 * @returns the first consistent result, or the last one
 */
export async function readUntil<T>(
  holds: (result: T) => boolean,
  read: () => Promise<T>,
  retry: RetryOptions = DEFAULT_RETRY,
): Promise<T> {
  let result: { value: T } | undefined;
  try {
    return await withRetry(
      async () => {
        result = { value: await read() };
        if (holds(result.value)) return result.value;
        throw new Unsettled();
      },
      retry,
      (error) => error instanceof Unsettled,
    );
  } catch (error) {
    if (error instanceof Unsettled && result !== undefined) return result.value;
    throw error;
  }
}

/** True for a request for the logs of one block, which no smaller range can replace. */
function isOneBlock(method: string, [filter]: readonly unknown[]): boolean {
  const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: unknown; toBlock?: unknown };
  return method === "eth_getLogs" && fromBlock === toBlock;
}

/** Adds the remedy for the node's answer to the message of an error. Returns other errors unchanged. */
function withRemedy(error: unknown, method: string): unknown {
  const { remedy } = nodeAnswerTo(error, method);
  if (remedy === undefined || !(error instanceof TransportError) || error.message.endsWith(remedy)) return error;
  error.message = `${error.message} ${remedy}`;
  return error;
}
