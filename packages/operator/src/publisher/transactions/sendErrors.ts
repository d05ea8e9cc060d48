/** The errors of a transaction that costs too much, or that is in no block. */
import { TransportError } from "../../errors.ts";

/**
 * The error for a price above the limit.
 * @param problem the first sentence of the message, without its period
 * @param actual the offered wei per unit of gas, if it is known
 */
export function feeTooHigh(problem: string, maxFee: bigint, actual?: bigint): TransportError {
  const message = `${problem}. The limit is ${maxFee} wei per unit of gas: try again later, or raise the limit (--max-fee).`;
  const values = { expected: String(maxFee), ...(actual !== undefined && { actual: String(actual) }) };
  return new TransportError("FEE_TOO_HIGH", message, values);
}

/** A limit that a transaction could exceed, and its value in wei. */
export interface ExceededLimit {
  /** `maxCost` is a limit on all runs of a plan, and `maxCostPerDay` on all plans of 24 hours. */
  limit: "transaction" | "maxCost" | "maxCostPerDay";
  wei: bigint;
}

const EXCEEDED: Readonly<Record<ExceededLimit["limit"], readonly [sum: string, remedy: string]>> = {
  transaction: ["The command", "run the command again with a higher limit (--max-cost)"],
  maxCost: ["All runs of this plan together", "publish again with a higher limit (--max-cost)"],
  maxCostPerDay: [
    "All plans of the last 24 hours together",
    "publish again later, or with a higher limit (--max-cost-per-day)",
  ],
};

/** The error for a transaction that could exceed a limit of cost. @param cost the maximum cost of the transaction in wei */
export function costLimitReached(cost: bigint, { limit, wei }: ExceededLimit): TransportError {
  const [sum, remedy] = EXCEEDED[limit];
  const message =
    `The next transaction could cost ${cost} wei. ${sum} would then have signed for more than the limit of ${wei} wei. ` +
    `Nothing is half done: to continue, ${remedy}.`;
  return new TransportError("COST_LIMIT_REACHED", message, { expected: String(wei), actual: String(cost) });
}

/**
 * The error for a sent transaction that is in no block.
 * @param transaction its hash, or its nonce in words
 * @param problem the rest of the first sentence, without its period
 * @param note a further sentence
 */
export function noReceipt(transaction: string, problem: string, note?: string): TransportError {
  const sentences = [
    `The transaction ${transaction} ${problem}.`,
    "It may still be included: run the command again.",
    ...(note === undefined ? [] : [note]),
  ];
  return new TransportError("NO_RECEIPT", sentences.join(" "), { actual: transaction });
}
