import { setTimeout as sleep } from "node:timers/promises";
import { describeValue, isObject } from "keyroot/internal/input";
import { argumentInvalid, TransportError } from "../errors.ts";
import { checkOptions } from "../checkOptions.ts";

/**
 * When a root counts as published: once its block has a number of confirmations, or once the chain has finalized it.
 * One confirmation means that the root is in a block, and two mean that one more block follows.
 */
export type Finality = { confirmations: number } | "finalized";

/** Rejects values with which a wait would never end or would end at once. @throws ArgumentError ARGUMENT_INVALID */
export function checkFinality(finality: Finality): void {
  if (finality === "finalized") return;
  const expected = '"finalized" or { confirmations }, a whole number of 1 or more';
  if (isObject(finality)) {
    const { confirmations } = checkOptions("The finality option's fields", finality, { confirmations: true });
    if (Number.isSafeInteger(confirmations) && confirmations >= 1) return;
  }
  const actual = describeValue(isObject(finality) ? finality.confirmations : finality);
  const message = `The finality option must be ${expected}, but is ${actual}.`;
  throw argumentInvalid(message, { expected, actual });
}

/** Reads the newest blocks of a chain. */
export interface NewestBlocks {
  block: (tag: "latest") => Promise<{ number: number }>;
  /** Returns undefined if no block is finalized yet. */
  finalizedBlock: () => Promise<{ number: number } | undefined>;
}

export interface FinalityWait {
  /** The maximum time to wait without new blocks, in ms. */
  timeoutMs: number;
  /** The interval between two polls of the chain, in ms. */
  pollMs: number;
  /** Receives the reason for the wait, once, if the block is not final at the first poll. */
  report: (reason: string) => void;
}

/**
 * Waits until a block is final.
 * @param target the number of the block
 * @returns the number of the newest final block
 * @throws TransportError NOT_FINAL, and the errors of `chain`
 */
export async function waitForFinality(
  chain: NewestBlocks,
  target: number,
  finality: Finality,
  { timeoutMs, pollMs, report }: FinalityWait,
): Promise<number> {
  const required = finality === "finalized" ? "finalized" : `${finality.confirmations} confirmations`;
  let last: number | undefined;
  let progressAt = performance.now();
  for (;;) {
    const final = await newestFinal(chain, finality);
    if (final >= target) return final;
    const newest = final < 0 ? "no block is final" : `the newest final block is ${final}`;
    if (last === undefined) report(`block ${target} is not final yet (${required}), and ${newest}`);
    if (final !== last) progressAt = performance.now();
    last = final;
    if (performance.now() - progressAt > timeoutMs) {
      const message =
        `The roots are in block ${target}, which is not final yet (${required}). No block became final for ${timeoutMs / 1000} s, and ` +
        `${newest}. Publish again to continue waiting, or require fewer confirmations.`;
      throw new TransportError("NOT_FINAL", message, { expected: target, actual: final });
    }
    await sleep(pollMs);
  }
}

async function newestFinal(chain: NewestBlocks, finality: Finality): Promise<number> {
  if (finality === "finalized") return (await chain.finalizedBlock())?.number ?? -1;
  return (await chain.block("latest")).number - (finality.confirmations - 1);
}
