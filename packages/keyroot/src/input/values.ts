/** Checks whether a parsed value is an object, and not an array or null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Checks whether a value is a `Uint8Array`, also one from another window or another realm, such as Jest's `Buffer`.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && tagOf(value) === "[object Uint8Array]";
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

/**
 * Describes an untrusted value for an error message. A text is quoted and shortened. Most other values are described
 * only by their type.
 */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return printable(JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value));
  if (value === null || ["undefined", "number", "boolean", "bigint"].includes(typeof value)) return String(value);
  if (isBytes(value)) return `${value.length} bytes`;
  if (tagOf(value) === "[object CryptoKey]") return 'a CryptoKey: pass a Uint8Array of exportKey("raw", key)';
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}

/**
 * Matches characters that are invisible or control a terminal: control characters, format characters and line
 * separators.
 */
let unprintable = /[^ -~]/gu;
try {
  // This uses the RegExp constructor, because a literal would be a syntax error in engines that do not support these
  // Unicode categories.
  unprintable = new RegExp("[\\p{C}\\p{Zl}\\p{Zp}]", "gu");
} catch {
  // In such an engine, `printable` escapes all characters outside ASCII.
}

/** Escapes invisible characters and terminal control characters. */
export function printable(text: string): string {
  return text.replace(unprintable, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
