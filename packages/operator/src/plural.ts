/**
 * Formats a number with a noun: `1 user`, `2 users`.
 * @param plural the plural of the noun. Default: the noun with an s
 */
export function plural(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
