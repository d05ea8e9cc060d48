/** Fees of a transaction in wei per unit of gas: by EIP-1559, or a gas price on chains without a base fee. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } | { gasPrice: bigint };

/** Gas prices at a block, in wei per unit. */
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

/** Current price of a unit of gas, in wei. */
export function gasPriceOf({ baseFeePerGas = 0n, priorityFee }: FeeData): bigint {
  return baseFeePerGas + priorityFee;
}

/**
 * The fees of a new transaction.
 * @param maxFee the maximum wei per unit of gas
 * @returns undefined if gas costs more than `maxFee` now
 */
export function feesOf(feeData: FeeData, maxFee: bigint): Fees | undefined {
  if (gasPriceOf(feeData) > maxFee) return undefined;
  const { baseFeePerGas, priorityFee } = feeData;
  if (baseFeePerGas === undefined) return { gasPrice: priorityFee };
  const maxFeePerGas = min(BASE_FEE_FACTOR * baseFeePerGas + priorityFee, maxFee);
  return { maxFeePerGas, maxPriorityFeePerGas: priorityFee };
}

/** Maximum price that these fees pay for a unit of gas, in wei. */
export function maxGasPriceOf(fees: Fees): bigint {
  return "gasPrice" in fees ? fees.gasPrice : fees.maxFeePerGas;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
