import { TransportError } from "keyroot/internal/errors";
import type { BlockHeader } from "keyroot/internal/ethereum";
import { isLocalChainId } from "../publisher/chain/localChains.ts";

/** A block up to which all events are known. */
export interface BlockCursor {
  number: number;
  /** The block hash: 0x and 64 lowercase hex digits. */
  hash: string;
  /** The block's time in seconds since 1970. */
  timestamp: number;
}

/** The maximum time in seconds that a block may be ahead of this machine's clock. */
const MAX_AHEAD_S = 120;
/** The maximum number of blocks per second. The fastest chains make one block per 10 ms. */
const MAX_BLOCKS_PER_S = 100;

export interface BlockCheck {
  /**
   * The chain id (EIP-155). Development chains are not checked, because these chains set any time and make blocks on
   * demand.
   */
  chainId: number;
  /** The newest block of an earlier run. Undefined if there was no earlier run. */
  last: BlockCursor | undefined;
  /** Returns the current time in ms since 1970. Default: the system's clock. */
  now?: (() => number) | undefined;
}

/**
 * Rejects a newest block with an impossible time or number. The block's time must not be in the future. The block's
 * number must be possible in the time since the last known block. With a false cursor, later audits would skip blocks.
 * @throws TransportError RPC_ANSWER_INVALID
 */
export function checkBlock({ number, timestamp }: BlockHeader, { chainId, last, now = Date.now }: BlockCheck): void {
  if (isLocalChainId(chainId)) return;
  const aheadS = timestamp - now() / 1000;
  if (aheadS > MAX_AHEAD_S) {
    const message = `The endpoint's newest block ${number} is ${Math.round(aheadS)} s ahead of this machine's clock. The maximum is ${MAX_AHEAD_S} s. Check the clock, or use another endpoint.`;
    throw new TransportError("RPC_ANSWER_INVALID", message, { expected: MAX_AHEAD_S, actual: aheadS });
  }
  const { number: from, timestamp: since } = last ?? { number: 0, timestamp: 0 };
  const most = from + MAX_BLOCKS_PER_S * Math.max(timestamp - since, 1);
  if (number <= most) return;
  const message = `The endpoint's newest block is ${number}, but no chain makes so many blocks after block ${from} in ${timestamp - since} s. Use another endpoint.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { expected: most, actual: number });
}
