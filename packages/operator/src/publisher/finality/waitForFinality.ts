import { setTimeout as sleep } from "node:timers/promises";
import { describeValue, isObject } from "keyroot/input";
import { ArgumentError, TransportError } from "../../errors.ts";
import { checkOptions } from "../../shared/checkOptions.ts";
import type { BlockTag, Chain } from "../chain/chain.ts";

/**
 * When a root counts as published: when its block has this many confirmations (1: it is in a block, 2: one more block
 * follows, …), or when the chain has finalized its block.
 */
export type Finality = { confirmations: number } | "finalized";

/** @throws ArgumentError ARGUMENT_INVALID: a wait for anything else would never end, or not be one */
export function checkFinality(finality: Finality): void {
  if (finality === "finalized") return;
  const expected = '"finalized" or { confirmations }, a whole number of 1 or more';
  if (isObject(finality)) {
    const { confirmations } = checkOptions("The option finality's fields", finality, { confirmations: true });
    if (Number.isSafeInteger(confirmations) && confirmations >= 1) return;
  }
  const actual = describeValue(isObject(finality) ? finality.confirmations : finality);
  const message = `The option finality must be ${expected}, but is ${actual}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { expected, actual });
}

export interface FinalityWait {
  /** Maximum wait without new blocks, in ms. */
  timeoutMs: number;
  /** Interval between two polls of the chain, in ms. */
  pollMs: number;
  /** Receives a description of the wait, once, if the block is not final at the first poll. */
  report: (reason: string) => void;
}

/**
 * Waits until a block is final.
 * @param target the block's number
 * @returns the newest final block, to read the chain at. For "finalized" it is that tag, since a node may prune the state
 * at a fixed block while a long proof still reads there
 * @throws TransportError NOT_FINAL, and as the chain
 */
export async function waitForFinality(
  chain: Chain,
  target: number,
  finality: Finality,
  { timeoutMs, pollMs, report }: FinalityWait,
): Promise<BlockTag> {
  const required = finality === "finalized" ? "finalized" : `${finality.confirmations} confirmations`;
  let last: number | undefined;
  let progressAt = performance.now();
  for (;;) {
    const final = await newestFinal(chain, finality);
    if (final >= target) return finality === "finalized" ? "finalized" : final;
    const newest = final < 0 ? "no block is final" : `the newest final block is ${final}`;
    if (last === undefined) report(`block ${target} is not final yet (${required}); ${newest}`);
    if (final !== last) progressAt = performance.now();
    last = final;
    if (performance.now() - progressAt > timeoutMs) {
      const message =
        `The roots are in block ${target}, which is not final yet (${required}), and no block became final for ` +
        `${timeoutMs} ms (${newest}). Publish again to continue waiting, or require fewer confirmations.`;
      throw new TransportError("NOT_FINAL", message, { expected: target, actual: final });
    }
    await sleep(pollMs);
  }
}

async function newestFinal(chain: Chain, finality: Finality): Promise<number> {
  if (finality === "finalized") return (await chain.block("finalized")).number;
  return (await chain.block("latest")).number - (finality.confirmations - 1);
}
