import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { checkUrl, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import { checkRuntime, parseEndpoints, parseLimits, type VerifyOptions } from "./options.ts";

/** Where a verification gets its data: the endpoints and the file host of the options, within their limits. */
export interface VerifierSources {
  /** One function for each endpoint. */
  calls: readonly RpcCall[];
  /** @throws as `fetchMerkleFile` */
  fetchFile(root: string): Promise<Uint8Array>;
  /** Aborts all open requests: if one request fails, others may still be open. */
  close(): void;
}

type SourceOptions = Pick<VerifyOptions, "rpc" | "quorum" | "merkleUrl" | "limits" | "signal" | "fetch" | "now">;

/**
 * @param batchSize how many RPC calls may share a request
 * @param wrap changes how each endpoint is called
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function openSources(options: SourceOptions, batchSize = 1, wrap = (call: RpcCall) => call): VerifierSources {
  checkRuntime(options);
  const { fileBytes, rpcBytes, timeoutMs } = parseLimits(options.limits);
  const merkleUrl = checkUrl("merkleUrl", options.merkleUrl);
  const closing = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
  const request = { fetch: options.fetch, signal, timeoutMs };
  return {
    calls: parseEndpoints(options).map((rpc) =>
      wrap(rpcCaller(rpc, { ...request, maxBytes: rpcBytes * batchSize, batchSize })),
    ),
    fetchFile: (root) => fetchMerkleFile(merkleUrl, root, { ...request, maxBytes: fileBytes }),
    close: () => {
      closing.abort();
    },
  };
}
