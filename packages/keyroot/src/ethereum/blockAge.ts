import { VerificationError } from "../errors.ts";
import type { BlockHeader } from "./header.ts";

type Position = Pick<BlockHeader, "number" | "timestamp">;

/** Maximum time in ms by which a block may be ahead of this machine's clock. */
export const MAX_AHEAD_MS = 120_000;

/**
 * Checks that a block is neither too old nor in the future. A block from the future must not be stored: until its time
 * comes, it would never count as too old.
 * @param maxAgeMs undefined to accept any age
 * @param now the current time on this machine, in ms since 1970
 */
export function checkBlockAge({ number, timestamp }: Position, maxAgeMs: number | undefined, now: number): void {
  const age = now - timestamp * 1000;
  const seconds = Math.round(Math.abs(age) / 1000);
  if (!(age >= -MAX_AHEAD_MS)) {
    const message = `The block ${number} is ${seconds} s ahead of this machine's clock. Check the clock, or use another endpoint.`;
    throw new VerificationError("anchor", "FUTURE_BLOCK", message, { expected: -MAX_AHEAD_MS, actual: age });
  }
  if (maxAgeMs === undefined || age <= maxAgeMs) return;
  const message = `The block ${number} is ${seconds} s old. The maximum age is ${maxAgeMs / 1000} s.`;
  throw new VerificationError("anchor", "STALE_BLOCK", message, { expected: maxAgeMs, actual: age });
}

/**
 * Checks whether a block is earlier than another block. The result is false if either of them is unknown.
 *
 * The blocks' times are compared, and their numbers only if the times are equal. Numbers are less reliable than times:
 * a block with a false, very high number would make every later block seem earlier. A false time cannot do this,
 * because block sources reject blocks from the future.
 */
export function isEarlier(block: Position | undefined, other: Position | undefined): boolean {
  if (block === undefined || other === undefined) return false;
  return block.timestamp < other.timestamp || (block.timestamp === other.timestamp && block.number < other.number);
}
