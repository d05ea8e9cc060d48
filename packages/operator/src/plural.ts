/**
 * Formats a number with a noun: `1 user`, `2,000 users`.
 * @param plural the plural of the noun. Default: the noun with an s
 */
export function plural(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** Formats a whole number as `10,000`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
