import { parseUnits } from "ethers/utils";

/** A decimal number with at most nine digits before the point. */
const DECIMAL = /^\d{1,9}(?:\.(\d{1,18}))?$/;

/**
 * Parses an amount above zero.
 * @param text a decimal number of gwei (10^9 wei) or ether (10^18 wei)
 * @returns the amount in wei, or undefined if it is zero or the text is not such a number
 */
export function parseAmount(text: string, unit: "gwei" | "ether"): bigint | undefined {
  const [match, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (match === undefined || (unit === "gwei" && fraction.length > 9)) return undefined;
  const wei = parseUnits(text, unit);
  return wei > 0n ? wei : undefined;
}
