import { DEFAULT_LIMITS, fetchMerkleFile } from "keyroot/transport";
import { type RetryOptions, withRetry } from "../retry.ts";

/**
 * Fetches a root's file from where clients fetch it.
 * @param root 64 lowercase hex digits
 * @param maxBytes the most bytes to read; a larger file is an error ANSWER_TOO_LARGE
 */
export type FetchFile = (root: string, maxBytes: number) => Promise<Uint8Array>;

/** Few retries: a host that fails longer would fail for clients, too. */
const FILE_HOST_RETRY: RetryOptions = { retries: 2, initialDelayMs: 500 };

/**
 * Makes a function that fetches files from their host over HTTP, as clients do.
 * @param merkleUrl the address under which files are served
 * @returns a function that throws as `fetchMerkleFile`
 */
export function fetchFromHost(merkleUrl: string, retry = FILE_HOST_RETRY): FetchFile {
  const { timeoutMs } = DEFAULT_LIMITS;
  return (root, maxBytes) => withRetry(() => fetchMerkleFile(merkleUrl, root, { maxBytes, timeoutMs }), retry);
}
