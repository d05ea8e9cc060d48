import { DEFAULT_LIMITS } from "keyroot/internal/transport";
import { checkOptions } from "../checkOptions.ts";
import type { RetryOptions } from "../http/retry.ts";
import { checkFileSource, readFileOf } from "./fileSource.ts";

/**
 * Fetches a root's file from the host that clients use.
 * @param root 64 lowercase hex digits
 * @param maxBytes the maximum number of bytes to read; a larger file fails with ANSWER_TOO_LARGE
 */
export type FetchFile = (root: string, maxBytes: number) => Promise<Uint8Array>;

export interface FileHostOptions {
  /** The retries of a failed request. Default: 3. A host that fails for longer would also fail for clients. */
  retry?: RetryOptions | undefined;
  /** Allows unencrypted http to other machines. Default: false. */
  allowHttp?: boolean | undefined;
}

/**
 * Creates a function that fetches files from the file host over HTTP, as clients do.
 * @param merkleUrl the URL under which files are served
 * @returns a function that throws the errors of `readFileOf`
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function fetchFromHost(merkleUrl: string, options: FileHostOptions = {}): FetchFile {
  const { retry, allowHttp } = checkOptions("The options of fetchFromHost", options, { retry: true, allowHttp: true });
  const source = { merkleUrl, timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp, retry };
  checkFileSource({ ...source, maxBytes: DEFAULT_LIMITS.fileBytes });
  return (root, maxBytes) => readFileOf(root, { ...source, maxBytes });
}
