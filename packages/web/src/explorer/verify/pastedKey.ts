import type { KeyRecord } from "keyroot";

const HEX = /^(?:0x)?((?:[0-9a-fA-F]{2})+)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The result of comparing a pasted key or key id with the published key. */
export type PastedKey =
  | { state: "empty" }
  | { state: "invalid"; error: string }
  | { state: "equal" | "different"; what: "key" | "key id"; text: string };

/** Compares a pasted key or key id, in base64 or hex, with the published key. */
export function comparePasted(pasted: string, { pubKey, keyID }: KeyRecord): PastedKey {
  const compact = pasted.replace(/\s+/g, "");
  if (compact === "") return { state: "empty" };
  const hexDigits = { key: hexLength(pubKey), keyID: hexLength(keyID) };
  const [, hex = ""] = HEX.exec(compact) ?? [];
  const text = Object.values(hexDigits).includes(hex.length) ? hexToBase64(hex) : compact;
  const what = text.length === pubKey.length ? "key" : "key id";
  if (!BASE64.test(text) || (what === "key id" && text.length !== keyID.length)) {
    const error = `A key has ${pubKey.length} characters of base64 or ${hexDigits.key} hex digits, a key id ${keyID.length} or ${hexDigits.keyID}. This has ${compact.length}.`;
    return { state: "invalid", error };
  }
  return { state: text === (what === "key" ? pubKey : keyID) ? "equal" : "different", what, text };
}

/**
 * Returns a complete public key in base64. @param like a key of the same type in base64 @returns undefined for other texts
 */
export function toBase64Key(text: string, like: string): string | undefined {
  const compact = text.replace(/\s+/g, "");
  const [, hex = ""] = HEX.exec(compact) ?? [];
  if (hex.length === hexLength(like)) return hexToBase64(hex);
  return BASE64.test(compact) && compact.length === like.length ? compact : undefined;
}

/** Returns the number of hex digits of bytes in base64. */
export function hexLength(base64: string): number {
  return 2 * atob(base64).length;
}

function hexToBase64(hex: string): string {
  const bytes = hex.match(/../g)?.map((pair) => String.fromCharCode(Number.parseInt(pair, 16))) ?? [];
  return btoa(bytes.join(""));
}
