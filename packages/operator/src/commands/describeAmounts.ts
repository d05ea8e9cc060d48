import { formatEther, formatUnits } from "ethers/utils";

/** Formats a gas price. @param wei the price of one unit of gas */
export function describeGwei(wei: bigint): string {
  return `${rounded(formatUnits(wei, "gwei"))} gwei`;
}

/** Formats an amount of the native currency, which is ETH on most chains. @param wei the amount; 10^18 wei are one ETH */
export function describeEther(wei: bigint, coin = "ETH"): string {
  return `${rounded(formatEther(wei))} ${coin}`;
}

/** Describes an amount in a currency without an exponent, such as `0.0023`. */
export function describeMoney(amount: number): string {
  return amount.toLocaleString("en", { maximumFractionDigits: 20, useGrouping: false });
}

/** Rounds to four significant digits, without an exponent. Prices on rollups are often tiny. */
function rounded(decimal: string): string {
  // The ES2022 types accept no decimal text here, but the function formats it exactly.
  const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
  return format.format(decimal as Intl.StringNumericLiteral);
}
