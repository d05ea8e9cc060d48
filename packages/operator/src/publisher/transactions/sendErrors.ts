/** The errors of a transaction that costs too much, or that is in no block. */
import { formatEther, formatUnits } from "ethers/utils";
import { TransportError } from "../../errors.ts";

/**
 * Describes a gas price exactly, in the unit of the options.
 * @param wei the price of one unit of gas
 */
export function describeGasPrice(wei: bigint): string {
  return `${formatUnits(wei, "gwei")} gwei per unit of gas`;
}

/**
 * The error for a price above the limit.
 * @param problem the first sentence of the message, without its period
 * @param limit the exceeded limit in wei per unit of gas
 * @param actual the offered wei per unit of gas, if it is known
 * @param setting the option that sets the limit
 */
export function feeTooHigh(problem: string, limit: bigint, actual?: bigint, setting = "--max-fee"): TransportError {
  const message = `${problem}. The limit is ${describeGasPrice(limit)}. Try again later, or raise the limit (${setting}).`;
  const values = { expected: String(limit), ...(actual !== undefined && { actual: String(actual) }) };
  return new TransportError("FEE_TOO_HIGH", message, values);
}

/** A limit that a transaction could exceed, with its value in wei. */
export interface ExceededLimit {
  /**
   * What the limit applies to. `transaction` is the single transaction of a command, `maxCost` is all runs of a plan,
   * and `maxCostPerDay` is all plans within 24 hours.
   */
  limit: "transaction" | "maxCost" | "maxCostPerDay";
  wei: bigint;
}

const EXCEEDED: Readonly<Record<ExceededLimit["limit"], readonly [sum: string, remedy: string]>> = {
  transaction: ["the command", "run the command again with a higher limit (--max-cost)"],
  maxCost: ["all runs of this plan", "publish again with a higher limit (--max-cost)"],
  maxCostPerDay: ["all plans of the last 24 hours", "publish again later, or with a higher limit (--max-cost-per-day)"],
};

/**
 * The error for a transaction that could exceed a cost limit.
 * @param cost the maximum cost of the transaction in wei
 */
export function costLimitReached(cost: bigint, { limit, wei }: ExceededLimit): TransportError {
  const [sum, remedy] = EXCEEDED[limit];
  const message =
    `The next transaction could cost ${formatEther(cost)} ETH. The total of ${sum} would then exceed the limit of ${formatEther(wei)} ETH. ` +
    `Finished work is saved. To continue, ${remedy}.`;
  return new TransportError("COST_LIMIT_REACHED", message, { expected: String(wei), actual: String(cost) });
}

export interface SentTransaction {
  /**
   * The transaction hash: 0x and 64 lowercase hex digits. Undefined if the endpoint did not confirm the transaction.
   */
  hash: string | undefined;
  nonce: number;
  from: string;
}

/**
 * The error for a sent transaction that is in no block. If the hash of the transaction is known, it is the error's
 * `actual` value.
 * @param problem the rest of the first sentence, without its period
 * @param remedy an imperative clause without its period
 * @param note a further sentence
 */
export function noReceipt(
  { hash, nonce, from }: SentTransaction,
  problem: string,
  remedy: string,
  note?: string,
): TransportError {
  const sentences = [
    `The transaction ${hash ?? `with the nonce ${nonce} of ${from}`} ${problem}.`,
    `It may still be included. To continue, ${remedy}.`,
    ...(note === undefined ? [] : [note]),
  ];
  return new TransportError("NO_RECEIPT", sentences.join(" "), hash === undefined ? {} : { actual: hash });
}

/** Makes a sentence of a reason for waiting. */
export function asSentence(reason: string | undefined): string | undefined {
  return reason && `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}
