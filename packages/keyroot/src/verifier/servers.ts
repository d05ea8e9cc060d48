import { loadModule } from "../engine/loadModule.ts";
import { checkBoolean, checkFunction, checkSignal, optional } from "../input/options.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { checkSourceUrl } from "../transport/url.ts";
import { checkEndpoint, type RpcCall, rpcCaller } from "../transport/jsonRpc.ts";
import type { FetchOptions } from "../transport/fetchBytes.ts";
import { monotonicNow, withTimeout } from "../transport/timeout.ts";
import { bytesOfMethod, type Limits, parseLimits, RPC_LIMITS } from "../transport/limits.ts";
import type { BlockSource } from "../trust/blockSource.ts";
import { type Endpoint, type KeyOptions, parseEndpoints, type VerifierOptions } from "./options.ts";

/** The endpoints and the file host of a verification, and the limits of the requests. */
export interface VerifierServers {
  endpoints: readonly Endpoint[];
  calls: readonly RpcCall[];
  /** The options of requests to other hosts, such as the timeout. */
  http: Omit<FetchOptions, "maxBytes"> & { deadline: number };
  /**
   * Fetches the Merkle-tree file of a root.
   * @param maxBytes Default: `limits.fileBytes`
   */
  fetchFile: (root: string, maxBytes?: number) => Promise<Uint8Array>;
  /** The URL of the folder with the Merkle-tree files. */
  merkleUrl: string;
}

export interface ServerConfig {
  /** The number of endpoints that must agree. Undefined for exactly one endpoint. */
  required: number | undefined;
  endpoints: readonly Endpoint[];
  contract: string;
  network: Pick<VerifierOptions, "merkleUrl" | "allowHttp" | "fetch"> & { limits: Limits };
}

/**
 * The fraction of `limits.timeoutMs` after which requests end. The rest of the time remains for checking the responses.
 * A request ends before the whole verification does, so the timeout error can name the host that did not respond.
 */
const REQUEST_SHARE = 0.95;
/**
 * The number of rounds of requests to several endpoints, not counting the search for a block. The rounds ask for the
 * latest blocks, for the answers, and for the root's block.
 */
const QUORUM_ROUNDS = 3;

interface CallSettings extends Pick<KeyOptions, "signal"> {
  /** Makes the function that sends calls to an endpoint. Default: `rpcCaller`. */
  connect?: typeof rpcCaller;
}

export function parseServers(
  options: Pick<VerifierOptions, "rpc" | "contract" | "merkleUrl" | "limits" | "allowHttp" | "fetch">,
  { required, checkEndpoints }: Pick<BlockSource, "required" | "checkEndpoints">,
): ServerConfig {
  const limits = parseLimits(options.limits);
  const allowHttp = optional(checkBoolean, "The allowHttp option", options.allowHttp);
  const fetch = optional(checkFunction, "The fetch option", options.fetch);
  const merkleUrl = checkSourceUrl("merkleUrl", options.merkleUrl, allowHttp);
  const endpoints = parseEndpoints(options.rpc, required);
  for (const rpc of endpoints) checkEndpoint(rpc, allowHttp);
  checkEndpoints?.(endpoints);
  return { endpoints, required, contract: options.contract, network: { merkleUrl, limits, allowHttp, fetch } };
}

/** Runs `work` with the servers, for at most `limits.timeoutMs`. In the end, all open requests are aborted. */
export async function withServers<T>(
  { endpoints, required, contract, network }: ServerConfig,
  work: (servers: VerifierServers) => Promise<T>,
  { signal: callersSignal, connect = rpcCaller }: CallSettings = {},
): Promise<T> {
  optional(checkSignal, "The signal option", callersSignal);
  const { merkleUrl, limits, allowHttp, fetch } = network;
  const { fileBytes, timeoutMs } = limits;
  // Each round has its own time limit. If some endpoints do not respond in one round, there is still time for the later
  // rounds.
  const roundMs = required === undefined ? timeoutMs : timeoutMs / (endpoints.length - required + 1 + QUORUM_ROUNDS);
  const request = { fetch, allowHttp, deadline: monotonicNow() + timeoutMs * REQUEST_SHARE };
  return withTimeout("The verification", timeoutMs, callersSignal, async (signal) => {
    await checkContract(contract);
    const rpcOptions = {
      ...request,
      timeoutMs: roundMs,
      maxBytes: RPC_LIMITS.maxBytes,
      bytesOf: bytesOfMethod,
      signal,
    };
    const calls = endpoints.map((rpc) => connect(rpc, rpcOptions));
    const http = { ...request, timeoutMs, signal };
    const fetchFile = (root: string, maxBytes = fileBytes) => fetchMerkleFile(merkleUrl, root, { ...http, maxBytes });
    return work({ endpoints, calls, http, fetchFile, merkleUrl });
  });
}

/** Checks the checksum of a contract address, if it has one. @throws ArgumentError ARGUMENT_INVALID */
export async function checkContract(contract: string): Promise<void> {
  // A lowercase address has no checksum. The module is loaded on demand, because the code for Keccak-256 is large.
  if (/[A-F]/.test(contract)) (await loadModule(() => import("../ethereum/checksum.ts"))).checkChecksum(contract);
}
