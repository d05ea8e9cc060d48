/** What a transaction offers for its gas, in wei a unit: by EIP-1559, or as a gas price where the chain has no base fee. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } | { gasPrice: bigint };

/** What the chain asks for gas at its newest block, in wei a unit. */
export interface Market {
  /** Undefined where the chain knows no base fee. */
  baseFeePerGas: bigint | undefined;
  /** What goes to the block's maker; without a base fee, the whole price. */
  tip: bigint;
}

/** A base fee doubles within six full blocks (EIP-1559): a transaction that offers twice the present one outlasts them. */
const BASE_FEES_OFFERED = 2n;

/** What a transaction costs a unit of gas now. */
export function priceOf({ baseFeePerGas = 0n, tip }: Market): bigint {
  return baseFeePerGas + tip;
}

/** What a new transaction offers. @param maxFee the most wei a unit of gas; undefined where it may not be sent for that */
export function offer(market: Market, maxFee: bigint): Fees | undefined {
  if (priceOf(market) > maxFee) return undefined;
  const { baseFeePerGas, tip } = market;
  if (baseFeePerGas === undefined) return { gasPrice: tip };
  return { maxFeePerGas: least(BASE_FEES_OFFERED * baseFeePerGas + tip, maxFee), maxPriorityFeePerGas: tip };
}

/**
 * What replaces an offer that no block took: an eighth more of each part, and no less than a new transaction offers. Nodes
 * refuse a replacement that raises either part by less than a tenth (Geth's and others' default).
 * @returns undefined where that is more than `maxFee`
 */
export function raise(fees: Fees, market: Market, maxFee: bigint): Fees | undefined {
  const fresh = offer(market, maxFee);
  if (fresh === undefined) return undefined;
  const raised =
    "gasPrice" in fees
      ? { gasPrice: most(anEighthMore(fees.gasPrice), topOf(fresh)) }
      : {
          maxFeePerGas: most(anEighthMore(fees.maxFeePerGas), topOf(fresh)),
          maxPriorityFeePerGas: most(anEighthMore(fees.maxPriorityFeePerGas), market.tip),
        };
  return topOf(raised) > maxFee ? undefined : raised;
}

/** The most that an offer pays for a unit of gas. */
export function topOf(fees: Fees): bigint {
  return "gasPrice" in fees ? fees.gasPrice : fees.maxFeePerGas;
}

function anEighthMore(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
