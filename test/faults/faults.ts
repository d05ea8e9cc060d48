import { keccak256 } from "ethers";
import { setTimeout as sleep } from "node:timers/promises";
import { sha256 } from "../samples.ts";

/** A JSON-RPC call, as it was sent. */
export interface Call {
  jsonrpc: "2.0";
  id: number;
  method: string;
  params: readonly unknown[];
}

/** What the asker gets: an answer in JSON-RPC, an answer in HTTP for all calls of its request, or none at all. */
export type Outcome =
  | { answer: Record<string, unknown> }
  | { status: number; headers?: Record<string, string>; body: string }
  | { ending: "silence" | "reset" };

/** What may be set about the faults. */
export interface FaultSettings {
  /** How late a slow answer is, in ms. */
  slowMs: number;
  /** What an answer with the status 429 says in its header Retry-After, in seconds. */
  retryAfterS: number;
  /** By how many blocks a lagging node is behind. */
  lag: number;
}

interface Fault {
  /** The methods that it may befall; all where there are none. */
  methods?: readonly string[];
  /** @param forward asks the chain, and returns its answer */
  befall(
    call: Call,
    forward: (call: Call) => Promise<Record<string, unknown>>,
    settings: FaultSettings,
  ): Outcome | Promise<Outcome>;
}

const RAW = ["eth_sendRawTransaction"];
const SENDING = ["eth_sendRawTransaction", "eth_sendTransaction"];
const ANSWERING_HASHES = [...SENDING, "eth_call"];

const silence: Outcome = { ending: "silence" };
const reset: Outcome = { ending: "reset" };
const status = (status: number, body = "", headers = {}): Outcome => ({ status, headers, body });
const refusal = ({ id }: Call, code: number, message: string): Outcome => ({
  answer: { jsonrpc: "2.0", id, error: { code, message } },
});

/** Refuses a transaction in a node's words: those of Geth, `core/txpool/errors.go` and `core/error.go`. */
const refuses = (message: string): Fault => ({ methods: SENDING, befall: (call) => refusal(call, -32000, message) });

/** The same words, although the node has taken the transaction. */
const takesAndRefuses = (message: string): Fault => ({
  methods: SENDING,
  async befall(call, forward) {
    await forward(call);
    return refusal(call, -32000, message);
  },
});

/** Everything that may go wrong between a publisher and its chain. */
export const FAULTS = {
  /** Never answers, and never asks the chain. */
  silenceBefore: { befall: () => silence },
  /** Asks the chain, and never answers. */
  silenceAfter: { befall: async (call, forward) => (await forward(call), silence) },
  /** Answers late. */
  slow: {
    async befall(call, forward, { slowMs }) {
      await sleep(slowMs);
      return { answer: await forward(call) };
    },
  },
  /** Ends the connection before the chain hears of the call. */
  resetBefore: { befall: () => reset },
  /** Ends the connection in the place of the answer: it is lost, what was asked for is done. */
  resetAfter: { befall: async (call, forward) => (await forward(call), reset) },
  tooManyRequests: {
    befall: (_call, _forward, { retryAfterS }) =>
      status(429, "Too Many Requests", { "Retry-After": String(retryAfterS) }),
  },
  serverError: { befall: () => status(500, "Internal Server Error") },
  badGatewayAfter: { befall: async (call, forward) => (await forward(call), status(502, "<html>Bad Gateway</html>")) },
  unavailable: { befall: () => status(503) },
  /** The limit of requests as many endpoints tell it: with the status 200, as an error with the code of EIP-1474. */
  limitExceeded: { befall: (call) => refusal(call, -32005, "request rate limit exceeded") },
  /** An error inside of the node, with the code of JSON-RPC 2.0. */
  internalError: { befall: (call) => refusal(call, -32603, "Internal error") },
  /** The answer to another call. */
  wrongId: { befall: async (call, forward) => ({ answer: { ...(await forward(call)), id: call.id + 1 } }) },
  /** No JSON. */
  garbage: { befall: () => status(200, "\u0000\u0001 no JSON") },
  /** JSON of which the end is missing. */
  truncated: {
    befall: async (call, forward) => status(200, JSON.stringify(await forward(call)).slice(0, -2)),
  },
  /** A result of a type that none has. */
  wrongType: { befall: ({ id }) => ({ answer: { jsonrpc: "2.0", id, result: { no: ["sense"] } } }) },
  /** Knows nothing: what a node answers that has not seen the block or transaction yet. */
  nothingKnown: {
    methods: ["eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getBlockByNumber"],
    befall: ({ id }) => ({ answer: { jsonrpc: "2.0", id, result: null } }),
  },
  /** A hash, or a root, other than the chain's. */
  otherHash: {
    methods: ANSWERING_HASHES,
    async befall(call, forward) {
      const answer = await forward(call);
      return { answer: "result" in answer ? { ...answer, result: `0x${sha256(String(answer["result"]))}` } : answer };
    },
  },
  /** The state some blocks ago, told as the latest. */
  lagging: {
    methods: ["eth_blockNumber", "eth_call", "eth_getBalance", "eth_getTransactionCount", "eth_getBlockByNumber"],
    async befall(call, forward, { lag }) {
      const ask = async (method: string) => (await forward({ ...call, method, params: [] }))["result"];
      const block = `0x${Math.max(0, Number(await ask("eth_blockNumber")) - lag).toString(16)}`;
      if (call.method === "eth_blockNumber") return { answer: { jsonrpc: "2.0", id: call.id, result: block } };
      const late = (param: unknown) => (param === "latest" || param === "pending" ? block : param);
      return { answer: await forward({ ...call, params: call.params.map(late) }) };
    },
  },
  /** Answers the transaction's hash, and forgets the transaction. */
  dropped: {
    methods: RAW,
    befall: ({ id, params: [raw] }) => ({ answer: { jsonrpc: "2.0", id, result: keccak256(raw as string) } }),
  },
  /** Sends the transaction twice, and answers as the node does to the second: "already known", "nonce too low". */
  sentTwice: {
    methods: RAW,
    befall: async (call, forward) => (await forward(call), { answer: await forward(call) }),
  },
  nonceTooLow: refuses("nonce too low"),
  nonceTooLowAfter: takesAndRefuses("nonce too low"),
  alreadyKnown: refuses("already known"),
  alreadyKnownAfter: takesAndRefuses("already known"),
  underpriced: refuses("replacement transaction underpriced"),
  underpricedAfter: takesAndRefuses("replacement transaction underpriced"),
  poolFull: refuses("txpool is full"),
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/** Whether a fault makes sense for a method. */
export function mayBefall(name: FaultName, method: string): boolean {
  const { methods }: Fault = FAULTS[name];
  return methods?.includes(method) ?? true;
}
