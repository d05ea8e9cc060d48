import { checkBuiltins } from "../input/builtins.ts";
import { checkBoolean, checkFunction, checkSignal, invalidArgument, optional } from "../input/options.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { nodeOf, checkSourceUrl } from "../transport/url.ts";
import { checkEndpoint, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import { type FetchOptions, monotonicNow, withTimeout } from "../transport/fetchBytes.ts";
import { bytesOfMethod, type Limits, parseLimits } from "../transport/limits.ts";
import { type Endpoint, parseEndpoints, type VerifyOptions } from "./options.ts";

/** The endpoints and the file host of a verification, within its limits. */
export interface VerifierSources {
  endpoints: readonly Endpoint[];
  /** One function for each endpoint. */
  calls: readonly RpcCall[];
  /** The limits of requests to other hosts. */
  http: Omit<FetchOptions, "maxBytes">;
  /** @throws as `fetchMerkleFile` */
  fetchFile: (root: string) => Promise<Uint8Array>;
}

/** The endpoints and the file host of a verifier's options, checked. */
export interface SourceConfig extends Pick<VerifyOptions, "quorum"> {
  endpoints: readonly Endpoint[];
  contract: string;
  network: Pick<VerifyOptions, "merkleUrl" | "allowHttp" | "fetch"> & { limits: Limits };
}

/**
 * The share of `limits.timeoutMs` after which requests end. The rest is for checking the answers. The error then names the
 * host that did not answer.
 */
const REQUEST_SHARE = 0.95;
/** The rounds of requests to a quorum in addition to those for its block: the latest blocks, the answers, the root's block. */
const QUORUM_ROUNDS = 3;

/** Settings of the calls to endpoints. */
interface CallSettings extends Pick<VerifyOptions, "signal"> {
  /** The maximum number of RPC calls per request. Default 1. */
  batchSize?: number;
  /** Changes how each endpoint is called. */
  wrap?: (call: RpcCall) => RpcCall;
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function parseSources(
  options: Pick<VerifyOptions, "rpc" | "quorum" | "contract" | "merkleUrl" | "limits" | "allowHttp" | "fetch">,
): SourceConfig {
  const limits = parseLimits(options.limits);
  const allowHttp = optional(checkBoolean, "The option allowHttp", options.allowHttp);
  const fetch = optional(checkFunction, "The option fetch", options.fetch);
  const merkleUrl = checkSourceUrl("merkleUrl", options.merkleUrl, allowHttp);
  const endpoints = parseEndpoints(options);
  for (const rpc of endpoints) checkEndpoint(rpc, allowHttp);
  const { quorum } = options;
  if (quorum !== undefined) checkNodes(endpoints);
  return { endpoints, quorum, contract: options.contract, network: { merkleUrl, limits, allowHttp, fetch } };
}

/**
 * Runs a verification with its sources. Ends it after `limits.timeoutMs`, whatever it waits for, and aborts all requests
 * that are open at the end.
 * @throws TransportError TIMEOUT, ABORTED; ArgumentError ARGUMENT_INVALID for the signal and the contract; and as `work`
 */
export async function withSources<T>(
  { endpoints, quorum, contract, network }: SourceConfig,
  work: (sources: VerifierSources) => Promise<T>,
  { signal: callersSignal, batchSize = 1, wrap = (call) => call }: CallSettings = {},
): Promise<T> {
  checkBuiltins();
  optional(checkSignal, "The option signal", callersSignal);
  const { merkleUrl, limits, allowHttp, fetch } = network;
  const { fileBytes, rpcBytes, timeoutMs } = limits;
  // Silent members of a quorum must not use up the time of the other rounds.
  const roundMs = quorum === undefined ? timeoutMs : timeoutMs / (endpoints.length - quorum + 1 + QUORUM_ROUNDS);
  const bytesOf = (method: string) => bytesOfMethod(limits, method);
  const request = { fetch, allowHttp, deadline: monotonicNow() + timeoutMs * REQUEST_SHARE };
  return withTimeout("The verification", timeoutMs, callersSignal, async (signal) => {
    await checkContract(contract);
    const rpcOptions = { ...request, timeoutMs: roundMs, maxBytes: rpcBytes, bytesOf, batchSize, signal };
    const calls = endpoints.map((rpc) => wrap(rpcCaller(rpc, rpcOptions)));
    const http = { ...request, timeoutMs, signal };
    const fetchFile = (root: string) => fetchMerkleFile(merkleUrl, root, { ...http, maxBytes: fileBytes });
    return work({ endpoints, calls, http, fetchFile });
  });
}

/** Checks the checksum of the contract's address, if it has one. @throws ArgumentError ARGUMENT_INVALID */
export async function checkContract(contract: string): Promise<void> {
  // An address in lower case has no checksum.
  // Loaded only when needed: it brings Keccak-256.
  if (/[A-F]/.test(contract)) (await import("../ethereum/checksum.ts")).checkChecksum(contract);
}

/** Refuses two endpoints on one host, because one operator runs both. @throws ArgumentError ARGUMENT_INVALID */
function checkNodes(endpoints: readonly Endpoint[]): void {
  const nodes = new Set(endpoints.map((rpc) => (typeof rpc === "string" ? nodeOf(rpc) : rpc)));
  if (nodes.size !== endpoints.length)
    throw invalidArgument("The option rpc", "endpoints on different hosts", endpoints);
}
