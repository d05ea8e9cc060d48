/** A number with its noun: `1 user`, `2 users`. @param plural for nouns that take more than an s */
export function plural(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
