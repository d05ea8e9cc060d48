/** Formats a number with its noun: `1 user`, `2 users`. @param plural the plural, unless it only adds an s */
export function plural(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
