/** Shortens a hash, key or id to its first and last characters. */
export function shorten(text: string, first = 8, last = 6): string {
  return text.length <= first + last + 1 ? text : `${text.slice(0, first)}…${text.slice(-last)}`;
}

/** Formats a count with a noun: "1 user", "13 users". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

/** Formats a whole number as "10,000". Does not use Intl, because the first use of Intl takes 10 ms. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats a size in bytes as "1.5 kB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return plural(bytes, "byte");
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

const WEI_PER_ETH = 10n ** 18n;

const DIGITS = 18;

/** Formats an amount in wei as ETH with six significant digits: "0.00123457 ETH". */
export function formatCost(wei: bigint): string {
  if (wei === 0n) return "0 ETH";
  const whole = wei / WEI_PER_ETH;
  const fraction = String(wei % WEI_PER_ETH).padStart(DIGITS, "0");
  if (whole > 999_999n) return `${whole.toLocaleString("en")} ETH`;
  return `${Number(`${whole}.${fraction}`).toLocaleString("en", { maximumSignificantDigits: 6 })} ETH`;
}

/** Formats a gas price in wei as gwei: "12.5 gwei". */
export function formatGwei(wei: bigint): string {
  return `${(Number(wei) / 1e9).toLocaleString("en", { maximumSignificantDigits: 4 })} gwei`;
}

/** Display names of the regions that store users' data. */
export const REGION_NAMES: Readonly<Record<string, string>> = {
  "us-west-2": "Oregon (us-west-2)",
  "eu-west-1": "Ireland (eu-west-1)",
};

export function regionName(region: string): string {
  return REGION_NAMES[region] ?? region;
}
