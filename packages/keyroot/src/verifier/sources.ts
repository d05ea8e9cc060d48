import { checkBoolean, checkFunction, checkSignal, invalidArgument, optional } from "../input/options.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { nodeOf } from "../transport/host.ts";
import { checkSourceUrl } from "../transport/url.ts";
import { checkEndpoint, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import { type Limits, withTimeout } from "../transport/fetchBytes.ts";
import { type Endpoint, parseEndpoints, parseLimits, type VerifyOptions } from "./options.ts";

/** Where a verification gets its data: the endpoints and the file host of the options, within their limits. */
export interface VerifierSources {
  endpoints: readonly Endpoint[];
  /** One function for each endpoint. */
  calls: readonly RpcCall[];
  /** @throws as `fetchMerkleFile` */
  fetchFile: (root: string) => Promise<Uint8Array>;
}

/**
 * The size of the largest answers in bytes, beside `limits.rpcBytes`: a number or word in hex, or an error's message;
 * twice the hex of the largest code (EIP-170); two proofs of 65 nodes. A block has the hashes of all its transactions, so
 * that only `rpcBytes` limits it.
 */
const ANSWER_BYTES: Readonly<Record<string, number>> = {
  eth_chainId: 2 ** 12,
  eth_call: 2 ** 12,
  eth_getCode: 4 * 24_576,
  eth_getProof: 288 * 2 ** 10,
};

/** The endpoints and the file host of a verifier's options, checked. */
export interface SourceSetup extends Pick<VerifyOptions, "quorum"> {
  endpoints: readonly Endpoint[];
  network: Pick<VerifyOptions, "merkleUrl" | "allowHttp" | "fetch"> & { limits: Limits };
}

/**
 * The share of `limits.timeoutMs` after which requests end: the rest is for the verdict about what they returned, so that the
 * error names the host that did not answer.
 */
const REQUEST_SHARE = 0.95;
/** The rounds of requests to a quorum beside those for its block: the latest blocks, the answers, the root's block. */
const QUORUM_ROUNDS = 3;

/** How the endpoints are called. */
interface CallSettings extends Pick<VerifyOptions, "signal"> {
  /** How many RPC calls may share a request. Default 1. */
  batchSize?: number;
  /** Changes how each endpoint is called. */
  wrap?: (call: RpcCall) => RpcCall;
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function parseSources(
  options: Pick<VerifyOptions, "rpc" | "quorum" | "merkleUrl" | "limits" | "allowHttp" | "fetch">,
): SourceSetup {
  const limits = parseLimits(options.limits);
  const allowHttp = optional(checkBoolean, "The option allowHttp", options.allowHttp);
  const fetch = optional(checkFunction, "The option fetch", options.fetch);
  const merkleUrl = checkSourceUrl("merkleUrl", options.merkleUrl, allowHttp);
  const endpoints = parseEndpoints(options);
  for (const rpc of endpoints) checkEndpoint(rpc, allowHttp);
  const { quorum } = options;
  if (quorum !== undefined) checkNodes(endpoints);
  return { endpoints, quorum, network: { merkleUrl, limits, allowHttp, fetch } };
}

/**
 * Runs a verification with its sources. Ends it after `limits.timeoutMs`, whatever it waits for, and aborts all requests
 * that are open at the end.
 * @throws TransportError TIMEOUT, ABORTED; ArgumentError ARGUMENT_INVALID for the signal; and as `work`
 */
export async function withSources<T>(
  { endpoints, quorum, network }: SourceSetup,
  work: (sources: VerifierSources) => Promise<T>,
  { signal: callersSignal, batchSize = 1, wrap = (call) => call }: CallSettings = {},
): Promise<T> {
  optional(checkSignal, "The option signal", callersSignal);
  const { merkleUrl, limits, allowHttp, fetch } = network;
  const { fileBytes, rpcBytes, timeoutMs } = limits;
  // Silent members of a quorum must not use up the time of the other rounds.
  const roundMs = quorum === undefined ? timeoutMs : timeoutMs / (endpoints.length - quorum + 1 + QUORUM_ROUNDS);
  const bytesOf = (method: string) => Math.min(ANSWER_BYTES[method] ?? rpcBytes, rpcBytes);
  const request = { fetch, allowHttp, deadline: performance.now() + timeoutMs * REQUEST_SHARE };
  return withTimeout("The verification", timeoutMs, callersSignal, (signal) => {
    const rpcOptions = { ...request, timeoutMs: roundMs, maxBytes: rpcBytes, bytesOf, batchSize, signal };
    const calls = endpoints.map((rpc) => wrap(rpcCaller(rpc, rpcOptions)));
    const fetchFile = (root: string) =>
      fetchMerkleFile(merkleUrl, root, { ...request, timeoutMs, maxBytes: fileBytes, signal });
    return work({ endpoints, calls, fetchFile });
  });
}

/** Refuses two endpoints on one host: that is one operator's word, not two. @throws ArgumentError ARGUMENT_INVALID */
function checkNodes(endpoints: readonly Endpoint[]): void {
  const nodes = new Set(endpoints.map((rpc) => (typeof rpc === "string" ? nodeOf(rpc) : rpc)));
  if (nodes.size !== endpoints.length)
    throw invalidArgument("The option rpc", "endpoints on different hosts", endpoints);
}
