/** Shortens a hash, key or id for display: the first and the last characters. */
export function shorten(text: string, first = 8, last = 6): string {
  return text.length <= first + last + 1 ? text : `${text.slice(0, first)}…${text.slice(-last)}`;
}

/** A count with its noun: "1 user", "13 users". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

/** A size in bytes for people. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return plural(bytes, "byte");
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A time in seconds since 1970, in the visitor's time zone. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
}
