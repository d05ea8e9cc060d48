import { keccak256 } from "ethers";
import { setTimeout as sleep } from "node:timers/promises";
import { sha256 } from "../samples.ts";
import type { Forward, RpcOutcome, RpcRequest } from "../servers/rpcProxy.ts";

export interface FaultSettings {
  /** The delay of a slow response in ms. */
  slowMs: number;
  /** The Retry-After header of responses with status 429, in seconds. */
  retryAfterS: number;
  /** Number of blocks by which a lagging node is behind. */
  lag: number;
}

interface Fault {
  /** The methods to which the fault applies. Default: all. */
  methods?: readonly string[];
  /** @param forward sends the call to the chain, and returns its response */
  apply(call: RpcRequest, forward: Forward, settings: FaultSettings): RpcOutcome | Promise<RpcOutcome>;
}

const RAW = ["eth_sendRawTransaction"];
const SENDING = ["eth_sendRawTransaction", "eth_sendTransaction"];
const RETURNING_HASHES = [...SENDING, "eth_call"];

const silence: RpcOutcome = { ending: "silence" };
const reset: RpcOutcome = { ending: "reset" };
const status = (status: number, body = "", headers = {}): RpcOutcome => ({ status, headers, body });
const errorResponse = ({ id }: RpcRequest, code: number, message: string): RpcOutcome => ({
  answer: { jsonrpc: "2.0", id, error: { code, message } },
});

/** Rejects a transaction with a message of Geth (`core/txpool/errors.go`, `core/error.go`). */
const rejects = (message: string): Fault => ({
  methods: SENDING,
  apply: (call) => errorResponse(call, -32000, message),
});

/** The same message, although the node accepted the transaction. */
const acceptsAndRejects = (message: string): Fault => ({
  methods: SENDING,
  async apply(call, forward) {
    await forward(call);
    return errorResponse(call, -32000, message);
  },
});

/** Faults between a publisher and its chain. */
export const FAULTS = {
  /** Never responds, and does not forward the call. */
  silenceBefore: { apply: () => silence },
  /** Forwards the call, and never responds. */
  silenceAfter: { apply: async (call, forward) => (await forward(call), silence) },
  /** Responds late. */
  slow: {
    async apply(call, forward, { slowMs }) {
      await sleep(slowMs);
      return { answer: await forward(call) };
    },
  },
  /** Resets the connection, and does not forward the call. */
  resetBefore: { apply: () => reset },
  /** Forwards the call, and resets the connection instead of responding. */
  resetAfter: { apply: async (call, forward) => (await forward(call), reset) },
  tooManyRequests: {
    apply: (_call, _forward, { retryAfterS }) =>
      status(429, "Too Many Requests", { "Retry-After": String(retryAfterS) }),
  },
  serverError: { apply: () => status(500, "Internal Server Error") },
  badGatewayAfter: { apply: async (call, forward) => (await forward(call), status(502, "<html>Bad Gateway</html>")) },
  unavailable: { apply: () => status(503) },
  /** A rate limit as many endpoints report it: status 200 and an error code (EIP-1474). */
  limitExceeded: { apply: (call) => errorResponse(call, -32005, "request rate limit exceeded") },
  /** An internal error of the node (JSON-RPC 2.0, section 5.1). */
  internalError: { apply: (call) => errorResponse(call, -32603, "Internal error") },
  /** The response to another call. */
  wrongId: { apply: async (call, forward) => ({ answer: { ...(await forward(call)), id: call.id + 1 } }) },
  /** Not JSON. */
  garbage: { apply: () => status(200, "\u0000\u0001 no JSON") },
  /** JSON without its end. */
  truncated: {
    apply: async (call, forward) => status(200, JSON.stringify(await forward(call)).slice(0, -2)),
  },
  /** A result of a type that no method has. */
  wrongType: { apply: ({ id }) => ({ answer: { jsonrpc: "2.0", id, result: { no: ["sense"] } } }) },
  /** The response of a node that has not seen the block or transaction yet. */
  nothingKnown: {
    methods: ["eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getBlockByNumber"],
    apply: ({ id }) => ({ answer: { jsonrpc: "2.0", id, result: null } }),
  },
  /** A different hash or root than the chain's. */
  otherHash: {
    methods: RETURNING_HASHES,
    async apply(call, forward) {
      const answer = await forward(call);
      return { answer: "result" in answer ? { ...answer, result: `0x${sha256(String(answer["result"]))}` } : answer };
    },
  },
  /** The state some blocks ago, returned as the latest. */
  lagging: {
    methods: ["eth_blockNumber", "eth_call", "eth_getBalance", "eth_getTransactionCount", "eth_getBlockByNumber"],
    async apply(call, forward, { lag }) {
      const read = async (method: string) => (await forward({ ...call, method, params: [] }))["result"];
      const block = `0x${Math.max(0, Number(await read("eth_blockNumber")) - lag).toString(16)}`;
      if (call.method === "eth_blockNumber") return { answer: { jsonrpc: "2.0", id: call.id, result: block } };
      const lagging = (param: unknown) => (param === "latest" || param === "pending" ? block : param);
      return { answer: await forward({ ...call, params: call.params.map(lagging) }) };
    },
  },
  /** Returns the transaction's hash, and drops the transaction. */
  dropped: {
    methods: RAW,
    apply: ({ id, params: [raw] }) => ({ answer: { jsonrpc: "2.0", id, result: keccak256(raw as string) } }),
  },
  /** Sends the transaction twice, and returns the node's second response: "already known" or "nonce too low". */
  sentTwice: {
    methods: RAW,
    apply: async (call, forward) => (await forward(call), { answer: await forward(call) }),
  },
  nonceTooLow: rejects("nonce too low"),
  nonceTooLowAfter: acceptsAndRejects("nonce too low"),
  alreadyKnown: rejects("already known"),
  alreadyKnownAfter: acceptsAndRejects("already known"),
  underpriced: rejects("replacement transaction underpriced"),
  underpricedAfter: acceptsAndRejects("replacement transaction underpriced"),
  poolFull: rejects("txpool is full"),
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/** Whether a fault applies to a method. */
export function appliesTo(name: FaultName, method: string): boolean {
  const { methods }: Fault = FAULTS[name];
  return methods?.includes(method) ?? true;
}
