import pRetry from "p-retry";
import { TransportError } from "keyroot/errors";

/** How often, and after which pauses, the world is asked again. */
export interface Patience {
  /** How many times a question is asked again before its failure counts. */
  retries: number;
  /** The first pause in ms; each further one is twice as long, up to 30 s, and up to twice that by chance. */
  firstPauseMs: number;
}

export const DEFAULT_PATIENCE: Patience = { retries: 5, firstPauseMs: 500 };

/** What an endpoint says that wants to be asked less (EIP-1474), or that has trouble of its own (JSON-RPC 2.0, section 5.1). */
const PASSING_RPC_CODES: readonly unknown[] = [-32005, -32603];

/**
 * Asks again where the world did not answer, or with nonsense, and where it said that it will later. What it refuses for
 * good is thrown at once. Only for questions: what is asked twice must not be done twice.
 */
export function patiently<T>(ask: () => Promise<T>, { retries, firstPauseMs }: Patience): Promise<T> {
  return pRetry(ask, {
    retries,
    minTimeout: firstPauseMs,
    maxTimeout: 30_000,
    randomize: true,
    shouldRetry: ({ error }) => mayPass(error),
  });
}

/** Whether what failed may succeed by itself. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false;
  const { code, actual } = error;
  if (code !== "RPC_ERROR" && code !== "FILE_HOST_ERROR") {
    return ["UNREACHABLE", "TIMEOUT", "RPC_ANSWER_INVALID"].includes(code);
  }
  const isHttpTrouble = typeof actual === "number" && (actual === 429 || (actual >= 500 && actual < 600));
  return isHttpTrouble || PASSING_RPC_CODES.includes(actual);
}
