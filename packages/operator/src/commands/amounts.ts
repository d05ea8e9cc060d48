import { formatEther, formatUnits } from "ethers/utils";

/** A gas price as text. @param wei per unit of gas */
export function describeGwei(wei: bigint): string {
  return `${rounded(formatUnits(wei, "gwei"))} gwei`;
}

/** An amount as text. @param wei 10^-18 of the native currency, which is ETH on most chains */
export function describeEther(wei: bigint): string {
  return `${rounded(formatEther(wei))} ETH`;
}

function rounded(decimal: string): string {
  return String(Number(Number(decimal).toPrecision(4)));
}
