import { formatEther, formatUnits } from "ethers/utils";

/** Formats a gas price. @param wei the price of one unit of gas */
export function describeGwei(wei: bigint): string {
  return `${rounded(formatUnits(wei, "gwei"))} gwei`;
}

/** Formats an amount of ETH. @param wei the amount */
export function describeEther(wei: bigint): string {
  return `${rounded(formatEther(wei))} ETH`;
}

/** Formats an amount of money without an exponent, such as `0.0023`. */
export function describeMoney(amount: number): string {
  return amount.toLocaleString("en", { maximumFractionDigits: 20, useGrouping: false });
}

/** Rounds a decimal number to four significant digits, without an exponent. Prices on rollups are often very small. */
function rounded(decimal: string): string {
  // The types of ES2022 do not allow text here, but `format` handles decimal text exactly.
  const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
  return format.format(decimal as Intl.StringNumericLiteral);
}
