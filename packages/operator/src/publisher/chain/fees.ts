/** What a transaction pays for its gas, in wei per unit: by EIP-1559, or a gas price on chains without a base fee. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } | { gasPrice: bigint };

/** What the chain charges for gas at a block, in wei per unit. */
export interface FeeData {
  /** Undefined on chains without a base fee. */
  baseFeePerGas: bigint | undefined;
  /** The part that the block's producer receives. On chains without a base fee, the whole gas price. */
  priorityFee: bigint;
}

/** The base fee doubles within six full blocks (EIP-1559). A transaction that offers twice the base fee stays valid for them. */
const BASE_FEE_FACTOR = 2n;

/** Fee data with at most this priority fee. Chains without a base fee have none. */
export function limitPriorityFee(feeData: FeeData, maxPriorityFee: bigint): FeeData {
  if (feeData.baseFeePerGas === undefined) return feeData;
  return { ...feeData, priorityFee: min(feeData.priorityFee, maxPriorityFee) };
}

/** What a unit of gas costs now, in wei. */
export function gasPriceOf({ baseFeePerGas = 0n, priorityFee }: FeeData): bigint {
  return baseFeePerGas + priorityFee;
}

/**
 * The fees of a new transaction.
 * @param maxFee the most wei per unit of gas
 * @returns undefined if gas costs more than `maxFee` now
 */
export function quoteFees(feeData: FeeData, maxFee: bigint): Fees | undefined {
  if (gasPriceOf(feeData) > maxFee) return undefined;
  const { baseFeePerGas, priorityFee } = feeData;
  if (baseFeePerGas === undefined) return { gasPrice: priorityFee };
  const maxFeePerGas = min(BASE_FEE_FACTOR * baseFeePerGas + priorityFee, maxFee);
  return { maxFeePerGas, maxPriorityFeePerGas: priorityFee };
}

/**
 * The fees of a transaction that replaces a pending one: an eighth more of each part, and at least what a new transaction
 * offers. Nodes reject a replacement that raises either part by less than a tenth (Geth's default, `txpool.pricebump`).
 * @returns undefined if that is more than `maxFee`, or its priority fee more than `maxPriorityFee`
 */
export function bumpFees(
  fees: Fees,
  feeData: FeeData,
  maxFee: bigint,
  maxPriorityFee: bigint = maxFee,
): Fees | undefined {
  const current = quoteFees(feeData, maxFee);
  if (current === undefined) return undefined;
  const bumped =
    "gasPrice" in fees
      ? { gasPrice: max(plusAnEighth(fees.gasPrice), maxGasPriceOf(current)) }
      : {
          maxFeePerGas: max(plusAnEighth(fees.maxFeePerGas), maxGasPriceOf(current)),
          maxPriorityFeePerGas: max(plusAnEighth(fees.maxPriorityFeePerGas), feeData.priorityFee),
        };
  if ("maxPriorityFeePerGas" in bumped && bumped.maxPriorityFeePerGas > maxPriorityFee) return undefined;
  return maxGasPriceOf(bumped) > maxFee ? undefined : bumped;
}

/** The most that a transaction with these fees pays for a unit of gas, in wei. */
export function maxGasPriceOf(fees: Fees): bigint {
  return "gasPrice" in fees ? fees.gasPrice : fees.maxFeePerGas;
}

function plusAnEighth(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
