const WEI_PER_ETH = 10n ** 18n;
const DIGITS = 18;

/** An amount of wei in ETH, rounded to six significant digits: "0.00123457 ETH". */
export function formatCost(wei: bigint): string {
  if (wei === 0n) return "0 ETH";
  const whole = wei / WEI_PER_ETH;
  const fraction = String(wei % WEI_PER_ETH).padStart(DIGITS, "0");
  if (whole > 999_999n) return `${whole.toLocaleString("en")} ETH`;
  return `${Number(`${whole}.${fraction}`).toLocaleString("en", { maximumSignificantDigits: 6 })} ETH`;
}

/** A price of gas in wei, in gwei: "12.5 gwei". */
export function formatGwei(wei: bigint): string {
  return `${(Number(wei) / 1e9).toLocaleString("en", { maximumSignificantDigits: 4 })} gwei`;
}
