/** A value from outside as it may stand in a message: text quoted and cut at 80 characters, all else by its type. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (value === null || ["undefined", "number", "boolean", "bigint"].includes(typeof value)) return String(value);
  return Array.isArray(value) ? "An array" : `A value of type ${typeof value}`;
}
