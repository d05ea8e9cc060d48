import type { NodeAnswer } from "./nodeAnswer.ts";

/** The remedy if an endpoint does not respond. A command that knows the option with the endpoint's URL names it instead. */
export const CONNECTION_REMEDY = "Check the endpoint's URL and the network, or use another endpoint.";
const GATEWAY_REMEDY =
  "The endpoint or a proxy in front of it is overloaded or unavailable. Try again later, or use another endpoint.";
const RATE_REMEDY =
  "The endpoint limits the number of requests. Try again later, or use an endpoint with a higher limit.";
const ACCESS_REMEDY = "Check the endpoint's URL and key, and the account's plan at the provider.";

/** The answers to any request: connections, HTTP statuses and rate limits. */
export const REQUEST_ANSWERS: readonly NodeAnswer[] = [
  {
    reaction: "repeat",
    error: ["UNREACHABLE", "TIMEOUT"],
    remedy: CONNECTION_REMEDY,
    source: "Node's fetch: ECONNRESET, ECONNREFUSED, UND_ERR_SOCKET, and time limits.",
  },
  {
    reaction: "repeat",
    error: ["RPC_ANSWER_INVALID"],
    source:
      "Pages of proxies with status 200, empty bodies and null instead of a block: drpcorg/nodecore#222, MetaMask/metamask-extension#7234.",
  },
  {
    reaction: "repeat",
    status: [429],
    remedy: RATE_REMEDY,
    source:
      "RFC 6585, section 4. Alchemy (alchemy.com/docs/reference/throughput), Arc with code -32011 (circlefin/arc-node#207), Base with code -32016 (base/node#390).",
  },
  {
    reaction: "repeat",
    status: [408, 425, 502, 503, 504, 520, 521, 522, 523, 524, 525, 527, 529, 530],
    remedy: GATEWAY_REMEDY,
    source:
      "RFC 9110, section 15.6; Cloudflare's statuses 520 to 530 (developers.cloudflare.com/support/troubleshooting/http-status-codes); smartcontractkit/chainlink-evm pkg/client/errors.go, ServiceUnavailable.",
  },
  {
    reaction: "end",
    status: [401, 402, 403, 407],
    remedy: ACCESS_REMEDY,
    source: "RFC 9110, section 15.5. QuickNode and Alchemy (quicknode.com/docs/ethereum/error-references).",
  },
  {
    reaction: "end",
    code: [3],
    source: "Geth, Reth, Erigon: a reverted call (go-ethereum internal/ethapi/errors.go).",
  },
  {
    reaction: "end",
    message: /revert|invalid opcode|out of gas|VM Exception|exceeds (?:the )?(?:block )?gas (?:limit|allowance)/i,
    source:
      "All clients: a reverted or impossible call, which some report with the code of an internal error (viem errors/node.ts, ExecutionRevertedError).",
  },
  {
    reaction: "repeat",
    code: [-32007],
    message: /request limit/i,
    remedy: RATE_REMEDY,
    source: "QuickNode: status 200 (wevm/viem#5083).",
  },
  {
    reaction: "repeat",
    code: [-32011, -32016, -32029, -32090, -32097, -32605, 429],
    message: /limit|too many|throughput|capacity|quota|exceed|retry|backend/i,
    remedy: RATE_REMEDY,
    source:
      "Arc (circlefin/arc-node#207), Base and other endpoints behind proxyd (base/node#390; ethereum-optimism/infra proxyd/rpc.go), BlockVision (docs.blockvision.org/reference/error-code-reference), Alchemy (alchemy.com/docs/reference/throughput).",
  },
  {
    reaction: "repeat",
    message:
      /rate.?limit|too many requests|requests? (?:per second|limit)|request count exceeded|compute units|throughput|capacity exceeded|limit exceeded|retry (?:in|after) \d|try again (?:later|in)|being rate limited|traffic is too high/i,
    remedy: RATE_REMEDY,
    source:
      "Providers that answer with status 200: Infura (docs.metamask.io, JSON-RPC errors), QuickNode (foundry-rs/foundry#4894), Alchemy, Ankr, BlockPI.",
  },
  {
    reaction: "repeat",
    message:
      /no (?:healthy|available) (?:upstream|backend|node)|backend is (?:currently )?(?:offline|unhealthy)|no backends? (?:is|are|available)|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|network is unreachable|i\/o timeout|connection (?:reset|refused)|ECONNRESET|ECONNREFUSED|socket hang up|fetch failed|upstream (?:request )?(?:timeout|timed out)/i,
    remedy: GATEWAY_REMEDY,
    source:
      "Balancers that report their backends' failures as JSON-RPC errors: proxyd, Envoy (ponder-sh/ponder packages/utils/src/getLogsRetryHelper.ts; smartcontractkit/chainlink-evm pkg/client/errors.go, ServiceUnavailable).",
  },
  {
    reaction: "repeat",
    status: [500],
    remedy: GATEWAY_REMEDY,
    source: "RFC 9110, section 15.6.1. Infura, QuickNode (quicknode.com/docs/ethereum/error-references).",
  },
  {
    reaction: "repeat",
    withoutCode: true,
    remedy: GATEWAY_REMEDY,
    source:
      "A provider's failed request: EIP-1193 requires a code for every answer of a node. Hardhat: HHE of the group NETWORK (network-manager/http-provider.ts).",
  },
];
