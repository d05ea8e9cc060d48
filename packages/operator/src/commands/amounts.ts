import { formatEther, formatUnits } from "ethers/utils";

/** A gas price as text. @param wei per unit of gas */
export function describeGwei(wei: bigint): string {
  return `${rounded(formatUnits(wei, "gwei"))} gwei`;
}

/** An amount as text. @param wei 10^-18 of the native currency, which is ETH on most chains */
export function describeEther(wei: bigint, coin = "ETH"): string {
  return `${rounded(formatEther(wei))} ${coin}`;
}

/** Four significant digits, without an exponent: tiny prices are usual on rollups. */
function rounded(decimal: string): string {
  // The types of ES2022 lack decimal text, which is exact.
  const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
  return format.format(decimal as Intl.StringNumericLiteral);
}
