import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "keyroot/errors";
import type { BlockTag, Chain } from "../chain/chain.ts";

/** How deep in the chain a root must be before it counts as published: under as many blocks, or in a finalized one. */
export type Depth = { confirmations: number } | "finalized";

/**
 * Waits until a block is as deep as asked for.
 * @param target the block's number
 * @param waiting.timeoutMs how long to wait while no block comes
 * @param waiting.tell is told what is waited for, where it is not there at once
 * @returns the block to read at: what it says is as deep
 * @throws TransportError NOT_FINAL
 */
export async function untilDeep(
  chain: Chain,
  target: number,
  depth: Depth,
  waiting: { timeoutMs: number; pollMs: number; tell: (reason: string) => void },
): Promise<BlockTag> {
  let last: number | undefined;
  let changedAt = performance.now();
  for (;;) {
    const deep = await deepest(chain, depth);
    if (deep >= target) return depth === "finalized" ? "finalized" : deep;
    const words = depth === "finalized" ? "finalized" : `under ${depth.confirmations - 1} more blocks`;
    const deepestNow = deep < 0 ? "no block" : `block ${deep}`;
    if (last === undefined) waiting.tell(`block ${target} is to be ${words}; ${deepestNow} is`);
    if (deep !== last) changedAt = performance.now();
    last = deep;
    if (performance.now() - changedAt > waiting.timeoutMs) {
      const message =
        `The roots are in block ${target}, which is not ${words} yet, and the chain has not moved for ` +
        `${waiting.timeoutMs} ms: the last that is: ${deepestNow}. Publish again to wait on, or ask for less depth.`;
      throw new TransportError("NOT_FINAL", message, { expected: target, actual: deep });
    }
    await sleep(waiting.pollMs);
  }
}

async function deepest(chain: Chain, depth: Depth): Promise<number> {
  if (depth === "finalized") return (await chain.block("finalized")).number;
  return (await chain.block("latest")).number - (depth.confirmations - 1);
}
