/** Reads the options that limit cost: `--max-fee`, `--max-priority-fee`, `--max-cost` and `--max-cost-per-day`. */
import { argumentInvalid } from "../errors.ts";
import { describeValue } from "keyroot/internal/input";
import { parseAmount } from "../publisher/chain/parseAmount.ts";
import type { CostLimits } from "../publisher/transactions/costLimits.ts";
import type { ChainAndFiles } from "./chainAndFiles.ts";

interface CostArgs {
  maxFee: string | undefined;
  maxPriorityFee: string | undefined;
  maxCost: string | undefined;
  maxCostPerDay?: string | undefined;
  safeTransactions?: string | undefined;
}

/**
 * Returns the cost limits that the operator has set. They are required unless the chain is local or the owners of a
 * Safe send the transactions.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function costLimitsOf(args: CostArgs, chainAndFiles: ChainAndFiles): CostLimits | "local" | undefined {
  if (args.safeTransactions !== undefined) return undefined;
  const maxFeePerGas = readAmount("--max-fee", args.maxFee, "gwei");
  const maxPriorityFeePerGas = readAmount("--max-priority-fee", args.maxPriorityFee, "gwei");
  const maxCost = readAmount("--max-cost", args.maxCost, "ether");
  const maxCostPerDay = readAmount("--max-cost-per-day", args.maxCostPerDay, "ether");
  if (maxFeePerGas !== undefined) return { maxFeePerGas, maxPriorityFeePerGas, maxCost, maxCostPerDay };
  if (chainAndFiles.isLocal && (maxPriorityFeePerGas ?? maxCost ?? maxCostPerDay) === undefined) return "local";
  const message =
    "--max-fee is missing. Set --max-fee or KEYROOT_MAX_FEE to your maximum price in gwei per unit of gas. Otherwise, the endpoint " +
    "could choose the price. 'estimate' shows the current price.";
  throw argumentInvalid(message);
}

function readAmount(option: string, text: string | undefined, unit: "gwei" | "ether"): bigint | undefined {
  if (text === undefined) return undefined;
  const wei = parseAmount(text, unit);
  if (wei !== undefined) return wei;
  const name = unit === "gwei" ? "gwei" : "ETH";
  throw argumentInvalid(`${option} must be a number of ${name} above 0, not ${describeValue(text)}.`);
}
