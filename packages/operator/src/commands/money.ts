import { formatEther, formatUnits } from "ethers";

/** A price of gas for people. @param wei a unit of gas */
export function describeGwei(wei: bigint): string {
  return `${rounded(formatUnits(wei, "gwei"))} gwei`;
}

/** An amount for people. @param wei 10^-18 of the chain's coin, which on most chains is ETH */
export function describeEther(wei: bigint): string {
  return `${rounded(formatEther(wei))} ETH`;
}

function rounded(decimal: string): string {
  return String(Number(Number(decimal).toPrecision(4)));
}
