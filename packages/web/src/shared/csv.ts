/** Converts rows to CSV (RFC 4180), with the names of the columns first. */
export function toCsv(columns: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map((cell) => toCell(String(cell ?? ""))).join(",")}\r\n`).join("");
}

/** Formats a time in a CSV cell, in UTC. @param ms milliseconds since 1970 */
export function timeInCsv(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/**
 * Formats a CSV cell. Adds an apostrophe before a text that begins like a formula, because spreadsheets execute
 * formulas.
 */
function toCell(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}
