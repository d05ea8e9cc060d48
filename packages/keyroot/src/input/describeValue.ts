/** Describes a value from outside for an error message: quotes and shortens text, and names the type of other values. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return printable(JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value));
  if (value === null || ["undefined", "number", "boolean", "bigint"].includes(typeof value)) return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}

/** Characters that are invisible or control a terminal: control, format and line separator characters. */
let unprintable = /[^ -~]/gu;
try {
  // A literal would make engines without these categories refuse the whole file.
  unprintable = new RegExp("[\\p{C}\\p{Zl}\\p{Zp}]", "gu");
} catch {
  // All characters beyond ASCII are escaped.
}

/** Escapes the characters of `unprintable`. */
export function printable(text: string): string {
  return text.replace(unprintable, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
