import { checkInteger, checkNames, checkObject, MAX_TIMEOUT_MS } from "../input/options.ts";

/** The limits for the requests of a verification. */
export interface Limits {
  /** Maximum size of a Merkle-tree file in bytes, after decompression. Default: 16 MiB, about 20,000 users. */
  fileBytes: number;
  /** Maximum time of the whole verification in ms. Default: 30,000. */
  timeoutMs: number;
}

/** The default limits of a verification. */
export const DEFAULT_LIMITS: Limits = { fileBytes: 2 ** 24, timeoutMs: 30_000 };

/** Limits of one JSON-RPC request: the size of the response in bytes, after decompression, and the time in ms. */
export const RPC_LIMITS = { maxBytes: 2 ** 20, timeoutMs: 30_000 };

/**
 * Maximum size in bytes of the response to an RPC method:
 * - `eth_chainId` and `eth_call` return a number or a word in hex, or an error message.
 * - `eth_getCode` returns hex, which has twice the length of the largest code (EIP-170).
 * - `eth_getProof` returns three proofs of 65 nodes each, for the account and two slots.
 *
 * For other methods, only `RPC_LIMITS.maxBytes` applies. Their responses can be large. For example, a block contains
 * the hashes of all its transactions.
 */
const METHOD_BYTES: Readonly<Record<string, number>> = {
  eth_chainId: 2 ** 12,
  eth_call: 2 ** 12,
  eth_getCode: 4 * 24_576,
  eth_getProof: 432 * 2 ** 10,
};

export function bytesOfMethod(method: string): number {
  return METHOD_BYTES[method] ?? RPC_LIMITS.maxBytes;
}

export function parseLimits(limits: Partial<Limits> = {}): Limits {
  checkNames("The limits", checkObject("The limits option", limits), Object.keys(DEFAULT_LIMITS));
  const { fileBytes = DEFAULT_LIMITS.fileBytes, timeoutMs = DEFAULT_LIMITS.timeoutMs } = limits;
  checkInteger("The limits.fileBytes option", fileBytes, 1, MAX_TIMEOUT_MS);
  checkInteger("The limits.timeoutMs option", timeoutMs, 1, MAX_TIMEOUT_MS);
  return { fileBytes, timeoutMs };
}
