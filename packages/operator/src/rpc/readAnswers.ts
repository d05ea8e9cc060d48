import type { NodeAnswer } from "./nodeAnswer.ts";

const BEHIND_REMEDY = "A node of this endpoint is behind the chain. Try again later, or use another endpoint.";
const STATE_REMEDY =
  "The node has deleted the state of this block. Run the command again for a newer block, or use an archive node.";
const HISTORY_REMEDY = "The node has deleted its old blocks (EIP-4444). Use an endpoint with the whole history.";

const NOT_FINAL_REMEDY =
  "The node knows no finalized block yet, for example after its start. Try again later, or use another endpoint.";

/** The answers of a node that does not have the requested block yet. */
const BLOCK_UNKNOWN: readonly NodeAnswer[] = [
  {
    reaction: "repeat",
    means: "block unknown",
    code: [-39001],
    remedy: NOT_FINAL_REMEDY,
    source:
      "Besu, Erigon, Reth: the tags safe and finalized before the first finalized block (ethereum/execution-apis#879).",
  },
  {
    reaction: "repeat",
    means: "block unknown",
    message: /(?:safe|finalized)"? (?:block )?not (?:found|available)/i,
    remedy: NOT_FINAL_REMEDY,
    source: "Geth (ethereum/execution-apis#879), Erigon (erigontech/erigon#20149).",
  },
  {
    reaction: "repeat",
    means: "block unknown",
    message:
      /header (?:for hash )?not found|(?:block|header).{0,90}(?:not found|not available|does not exist|unavailable)|unknown (?:block|header)|block.*(?:out of range|is beyond|extends beyond|not yet)|BlockOutOfRange|cannot find (?:the )?block|could not find (?:the )?(?:block|header)|unfinalized data|(?:not|isn't) currently canonical|resource not found|after last accepted block|block_?id .*not found|blocks? .*cannot be found/i,
    remedy: BEHIND_REMEDY,
    source:
      "A node that is behind the others: Geth and Besu (ethereum/execution-apis#534), Reth with -32001 (ethereum/execution-apis#879), Anvil's BlockOutOfRangeError, Avalanche (cowprotocol/services#3418); behind balancers ethersphere/bee#1919, ponder-sh/ponder#1189, DefiLlama/defillama-sdk#254.",
  },
];

/** The answers to requests that read, in addition to `REQUEST_ANSWERS`. */
export const READ_ANSWERS: readonly NodeAnswer[] = [
  {
    reaction: "end",
    means: "history pruned",
    code: [4444],
    remedy: HISTORY_REMEDY,
    source: "EIP-4444. Geth, Reth (paradigmxyz/reth#16780), Base (base/base#3792).",
  },
  {
    reaction: "end",
    means: "history pruned",
    message: /pruned history|history (?:has been |is )?pruned|pruned, not available|block (?:is )?expired/i,
    remedy: HISTORY_REMEDY,
    source: "EIP-4444 with another code: Reth (paradigmxyz/reth#26550), Erigon, Nethermind.",
  },
  {
    reaction: "end",
    message: /proof window|proofs? (?:are|is) (?:only|not) available/i,
    remedy:
      "The node has storage proofs only for its newest blocks. Use another endpoint, a newer block, or raise the node's limit (Reth: --rpc.eth-proof-window).",
    source: "Reth: its default is the newest block only (paradigmxyz/reth#14952, drpcorg/nodecore#222).",
  },
  {
    reaction: "end",
    means: "no block hash",
    message:
      /cannot unmarshal object|unmarshal.*blockHash|hex string without 0x prefix|argument must be a string|hex number > 64 bits|Invalid block hash|cannot convert string to buffer|(?:blockHash|EIP-?1898).*not supported/i,
    source:
      "Gateways without EIP-1898: 0xPolygon/polygon-edge#253, evmos/ethermint#460, iotaledger/wasp-legacy#486, godwokenrises/godwoken-web3#456, axonweb3/axon#1228.",
  },
  {
    reaction: "repeat",
    means: "state pruned",
    message:
      /missing trie node|MissingTrieNode|No state available|world state unavailable|historical state|state .*(?:not available|unavailable|pruned)|due to pruning|state (?:is|has been) pruned|running with state pruning|state histories .*(?:not|haven't)|header for block .*pruned|archive node/i,
    remedy: STATE_REMEDY,
    source:
      "Geth (ethereum/go-ethereum#16471), Bor (0xPolygon/bor#1303), Nethermind with -32002 (NethermindEth/nethermind#12483), Besu, Erigon (erigontech/erigon#13727), OpenEthereum (openethereum/parity-ethereum#11594). Another node behind the balancer may have the state.",
  },
  ...BLOCK_UNKNOWN,
  {
    reaction: "repeat",
    message: /transaction index(?:ing|er) is/i,
    remedy: "The node is still building its index of transactions. Try again later.",
    source: "Geth, op-geth, BSC (ethereum/go-ethereum#29956, base/docs#1149, bnb-chain/bsc#2524).",
  },
  {
    reaction: "repeat",
    message:
      /node is (?:not synced|syncing)|still syncing|not (?:fully )?synced|daemon is (?:starting|not ready)|initial sync/i,
    remedy: "The node has not finished its synchronization. Try again later, or use another endpoint.",
    source: "Nethermind, Besu and providers' balancers while a node starts.",
  },
  {
    reaction: "end",
    code: [-32600, -32601, -32602, -32604, -32700, 4001, 4100, 4200],
    source: "JSON-RPC 2.0, section 5.1; EIP-1474; EIP-1193.",
  },
  {
    reaction: "repeat",
    message: /time(?:d)? ?-?out|deadline exceeded|context canceled|request aborted|took too long/i,
    remedy: "The node did not finish the request in its own time limit. Try again later, or use another endpoint.",
    source:
      'Geth\'s --rpc.evmtimeout ("execution aborted (timeout = 5s)"), Goldsky with -32015 (docs.goldsky.com/edge-rpc/evm/error-codes).',
  },
  {
    reaction: "repeat",
    code: [-1, -32002, -32005, -32014, -32015, -32603],
    source:
      "EIP-1474: resource unavailable, limit exceeded; JSON-RPC 2.0, section 5.1: internal error, such as Cloudflare's (reown-com/appkit#4059). Goldsky: missing data, node timeout. Hardhat's provider for every failed HTTP request (-1; network-manager/provider-errors.ts, UnknownError).",
  },
];

/** The answers to `eth_getLogs` that a smaller range of blocks avoids. They come before all other rows. */
export const LOG_ANSWERS: readonly NodeAnswer[] = [
  ...BLOCK_UNKNOWN,
  {
    reaction: "narrow",
    error: ["TIMEOUT", "ANSWER_TOO_LARGE"],
    source: "This program's own limits.",
  },
  {
    reaction: "narrow",
    status: [408, 413, 500, 504, 524],
    source:
      "A proxy's or provider's own limit: Cloudflare's 524, nginx's 504, 500 without a reason, and QuickNode's 413 with -32614 (OffchainLabs/arbitrum-sdk#609).",
  },
  {
    reaction: "narrow",
    message:
      /block range|range (?:is |was )?(?:too|limit|\d)|limited to (?:a )?[\d,]|returned more than|max(?:imum)? (?:results|number of|allowed|block|is|range)|too many (?:blocks|logs|results|events)|requested too many|response (?:is )?(?:size|too)|size (?:is |should|exceeds)|exceeds? (?:the )?(?:limit|max|range)|at most [\d,]+ blocks|smaller than size|query timeout|query (?:must|timed)|distance/i,
    source:
      "Infura, Alchemy (ethers-io/ethers.js#4703, INFURA/infura#237), Alchemy's free tier (BobTheBuidler/dank_mids#772), Reth and Base (base/base#2421), Scroll (scroll-tech/go-ethereum#529), 1RPC (rotki/rotki#8875), and Cloudflare, Ankr, BlockPI, Chainstack, PublicNode, Arbitrum, Optimism, zkSync, Avalanche, Aurora, Harmony (ponder-sh/ponder packages/utils/src/getLogsRetryHelper.ts).",
  },
  {
    reaction: "narrow",
    message: /time(?:d)? ?-?out|deadline exceeded|took too long/i,
    source: "Infura's limit of 10 s (INFURA/infura#237), Geth's --rpc.logquerylimit, Alchemy.",
  },
  {
    reaction: "narrow",
    message: /^(?:query )?limit exceeded/i,
    source: "EIP-1474, -32005, without the words of a rate limit.",
  },
];
