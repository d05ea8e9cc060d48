import { checkInteger, checkNames, checkObject, MAX_TIMEOUT_MS } from "../input/options.ts";

/** The limits of a verification's requests. */
export interface Limits {
  /** The maximum size of a Merkle-tree file in bytes, after decompression. Default 16 MiB, about 20,000 users. */
  fileBytes: number;
  /** The maximum size of an answer to a JSON-RPC call in bytes, after decompression. Default 1 MiB. */
  rpcBytes: number;
  /** The maximum time of the whole verification, in milliseconds. Default 30,000. */
  timeoutMs: number;
}

/** The limits of a verification that sets none. */
export const DEFAULT_LIMITS: Limits = { fileBytes: 2 ** 24, rpcBytes: 2 ** 20, timeoutMs: 30_000 };

/**
 * The maximum size of an answer to each RPC method in bytes:
 * - a number or word in hex, or an error message;
 * - twice the hex of the largest code (EIP-170);
 * - two proofs of 65 nodes each.
 *
 * For other methods, only `rpcBytes` applies: a block contains the hashes of all its transactions.
 */
const METHOD_BYTES: Readonly<Record<string, number>> = {
  eth_chainId: 2 ** 12,
  eth_call: 2 ** 12,
  eth_getCode: 4 * 24_576,
  eth_getProof: 288 * 2 ** 10,
};

/** The maximum size of an answer to an RPC method in bytes. */
export function bytesOfMethod({ rpcBytes }: Limits, method: string): number {
  return Math.min(METHOD_BYTES[method] ?? rpcBytes, rpcBytes);
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function parseLimits(limits: Partial<Limits> = {}): Limits {
  checkNames("The limits", checkObject("The option limits", limits), Object.keys(DEFAULT_LIMITS));
  const parse = (name: keyof Limits) =>
    checkInteger(`The option limits.${name}`, limits[name] ?? DEFAULT_LIMITS[name], 1, MAX_TIMEOUT_MS);
  return { fileBytes: parse("fileBytes"), rpcBytes: parse("rpcBytes"), timeoutMs: parse("timeoutMs") };
}
