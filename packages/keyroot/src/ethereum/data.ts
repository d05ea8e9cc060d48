/** Whether a value is bytes as JSON-RPC encodes them: 0x and two hex digits per byte, in either case. */
export function isData(value: unknown): value is string {
  return typeof value === "string" && value.length % 2 === 0 && /^0x[0-9a-f]*$/i.test(value);
}
