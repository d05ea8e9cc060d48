import { TransportError, VerificationError } from "keyroot/internal/errors";
import { type BlockHeader, checkBlockAge, fetchBlock, toQuantity } from "keyroot/internal/ethereum";
import type { RpcCall } from "keyroot/internal/transport";
import type { RetryOptions } from "../http/retry.ts";
import { repeatRead } from "../rpc/repeatReads.ts";
import { isLocalChainId } from "./localChains.ts";

/** A block up to which all events are known. */
export interface BlockCursor {
  number: number;
  /** The block hash: 0x and 64 lowercase hex digits. */
  hash: string;
  /** The block's time in seconds since 1970. */
  timestamp: number;
}

/** The maximum number of blocks per second. The fastest chains make one block per 10 ms. */
const MAX_BLOCKS_PER_S = 100;

export interface BlockCheck {
  /**
   * The chain id (EIP-155). Development chains make blocks on demand and with any time, so only `maxAgeMs` is checked
   * for them.
   */
  chainId: number;
  /** The newest block of an earlier run. Undefined if there was no earlier run. */
  last: BlockCursor | undefined;
  /**
   * The maximum age of the block in ms. An endpoint that has stopped shows no new roots, and without a maximum age, no
   * one notices. Default: no maximum.
   */
  maxAgeMs?: number | undefined;
  /** Returns the current time in ms since 1970. Default: the system's clock. */
  now?: (() => number) | undefined;
}

/**
 * Rejects a newest block with an impossible number or time. The block must not be from the future or older than
 * `maxAgeMs`. It must also not be further above the last known block than a chain can get in the time between them. If
 * a false block became the cursor, later audits would skip blocks.
 * @throws TransportError FUTURE_BLOCK, STALE_BLOCK, RPC_ANSWER_INVALID
 */
export function checkBlock(
  { number, timestamp }: Pick<BlockHeader, "number" | "timestamp">,
  { chainId, last, maxAgeMs, now = Date.now }: BlockCheck,
): void {
  const isLocal = isLocalChainId(chainId);
  if (!isLocal || maxAgeMs !== undefined) checkTime({ number, timestamp }, maxAgeMs, now());
  if (isLocal) return;
  const { number: from, timestamp: since } = last ?? { number: 0, timestamp: 0 };
  const most = from + MAX_BLOCKS_PER_S * Math.max(timestamp - since, 1);
  if (number <= most) return;
  const message = `The endpoint's newest block is ${number}, but no chain makes so many blocks after block ${from} in ${timestamp - since} s. Use another endpoint.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { expected: most, actual: number });
}

/**
 * Checks a block's time as clients do, but throws a TransportError. A wrong time is the fault of the endpoint or of
 * this machine's clock, and does not show that the registry is false.
 */
function checkTime(...args: Parameters<typeof checkBlockAge>): void {
  try {
    checkBlockAge(...args);
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause;
    const { message, expected, actual } = cause;
    const code = cause.code === "STALE_BLOCK" ? "STALE_BLOCK" : "FUTURE_BLOCK";
    throw new TransportError(code, message, { expected, actual, cause });
  }
}

/**
 * Returns true if a block is still on the chain. If a node has no block with this number yet, it is behind the other
 * nodes, so the block is read again.
 */
export async function isStillOnChain(
  call: RpcCall,
  { number, hash }: Pick<BlockCursor, "number" | "hash">,
  retry?: RetryOptions,
): Promise<boolean> {
  return (await repeatRead(() => fetchBlock(call, number), retry)).hash === hash;
}

/** Returns whether the endpoint has this block. It has no block above its newest one. */
export async function isOnChain(
  call: RpcCall,
  { number, hash }: Pick<BlockCursor, "number" | "hash">,
): Promise<boolean> {
  const answer = await call("eth_getBlockByNumber", [toQuantity(number), false]);
  return answer !== null && (await fetchBlock(() => Promise.resolve(answer), number)).hash === hash;
}
