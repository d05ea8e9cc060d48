const HEX = /^(?:0x)?((?:[0-9a-fA-F]{2})+)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Reads a key or a key id in base64 or hex.
 * @param byteLength the number of bytes that the key or key id must have
 * @returns the value in base64, or undefined for other texts
 */
export function toBase64(text: string, byteLength: number): string | undefined {
  const compact = text.replace(/\s+/g, "");
  const [, hex = ""] = HEX.exec(compact) ?? [];
  if (hex.length === 2 * byteLength) return hexToBase64(hex);
  return BASE64.test(compact) && compact.length === 4 * Math.ceil(byteLength / 3) ? compact : undefined;
}

/** Returns the number of bytes in base64. */
export function bytesIn(base64: string): number {
  return atob(base64).length;
}

function hexToBase64(hex: string): string {
  const bytes = hex.match(/../g)?.map((pair) => String.fromCharCode(Number.parseInt(pair, 16))) ?? [];
  return btoa(bytes.join(""));
}
