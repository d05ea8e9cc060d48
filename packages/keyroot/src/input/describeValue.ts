/** A value from outside as it may stand in a message: text quoted and cut, bytes counted, all else by its type. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return printable(JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value));
  if (value === null || ["undefined", "number", "boolean", "bigint"].includes(typeof value)) return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return Array.isArray(value) ? "An array" : `A value of type ${typeof value}`;
}

/** Text from outside, with what steers a terminal or cannot be seen (control, format, line separators) escaped. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
