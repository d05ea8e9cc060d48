/**
 * Describes an untrusted value for an error message. Quotes and shortens a text. Names only the type of most other
 * values.
 */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return printable(JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value));
  if (value === null || ["undefined", "number", "boolean", "bigint"].includes(typeof value)) return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}

/** Matches characters that are invisible or control a terminal: control, format and line separator characters. */
let unprintable = /[^ -~]/gu;
try {
  // Engines that do not support these categories would reject the whole file if the expression were a literal.
  unprintable = new RegExp("[\\p{C}\\p{Zl}\\p{Zp}]", "gu");
} catch {
  // On such engines, all characters outside ASCII are escaped.
}

/** Escapes invisible characters and terminal control characters. */
export function printable(text: string): string {
  return text.replace(unprintable, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
