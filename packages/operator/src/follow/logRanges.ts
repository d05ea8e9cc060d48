import { TransportError } from "keyroot/internal/errors";
import { type BlockRange, fetchRootAddedLogs, type RootAddedLog } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { nodeAnswerTo } from "../rpc/nodeAnswers.ts";

/**
 * Reads the registry's events in a range of blocks. If the endpoint rejects the range as too large, fewer blocks are
 * requested: as many as the endpoint suggests, or otherwise half.
 * @param call sends one request, and repeats it after temporary failures
 * @param onRead receives the number of the last block read
 * @throws the errors of `fetchRootAddedLogs`
 */
export function readRootAddedLogs(
  call: RpcCall,
  contract: string,
  range: BlockRange,
  onRead: (toBlock: number) => void = () => undefined,
): Promise<RootAddedLog[]> {
  return fetchRootAddedLogs(call, contract, range, onRead, fewerBlocks);
}

/** Returns the number of blocks for the next request, or undefined if a smaller range would not help. */
function fewerBlocks(error: unknown, blocks: number): number | undefined {
  if (nodeAnswerTo(error, "eth_getLogs").reaction !== "narrow") return undefined;
  const suggested = error instanceof TransportError ? suggestedBlocks(error.reason ?? "") : undefined;
  return suggested !== undefined && suggested < blocks ? suggested : Math.ceil(blocks / 2);
}

/**
 * Patterns that find the accepted number of blocks in an endpoint's error message. The first one is for Infura, Alchemy
 * and zkSync. The second one is for QuickNode, 1RPC, Alchemy, Aurora, BlockPI, Coinbase, PublicNode, Hyperliquid,
 * Swell, Somnia, Merkle, Cloudflare, thirdweb, Blast, Avalanche, Moonriver and Ankr. Source: ponder-sh/ponder,
 * packages/utils/src/getLogsRetryHelper.ts.
 */
const RANGE = /block range (?:should work: )?\[(0x[0-9a-f]+), *(0x[0-9a-f]+)\]/i;
const LIMIT =
  /(?:limited to (?:a )?|up to (?:a )?|at most |max(?:imum)?(?: block)? range:? |max is |greater than |range exceeds |exceeds limit of |requested blocks is |maximum is set to |\d > |\(maximum |distance: |max block range = )([\d,.]*\d)(k)?\b/i;

/** Returns the number of blocks that an endpoint's message suggests. */
function suggestedBlocks(reason: string): number | undefined {
  const [, from, to] = RANGE.exec(reason) ?? [];
  if (from !== undefined && to !== undefined) return positive(Number(to) - Number(from) + 1);
  const [, limit, thousands] = LIMIT.exec(reason) ?? [];
  if (limit === undefined) return undefined;
  return positive(Number(limit.replace(/[,.]/g, "")) * (thousands === undefined ? 1 : 1000));
}

function positive(blocks: number): number | undefined {
  return Number.isSafeInteger(blocks) && blocks > 0 ? blocks : undefined;
}
