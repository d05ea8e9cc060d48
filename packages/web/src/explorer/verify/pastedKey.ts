import type { KeyRecord } from "keyroot";

const HEX = /^(?:0x)?(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{210})$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The result of comparing a pasted key or key id with the published key. */
export type PastedKey =
  | { state: "empty" }
  | { state: "invalid"; error: string }
  | { state: "equal" | "different"; what: "key" | "key id"; text: string };

/** Compares a pasted key (105 bytes) or key id (16 bytes), in base64 or hex, with the published key. */
export function comparePasted(pasted: string, { pubKey, keyID }: KeyRecord): PastedKey {
  const compact = pasted.replace(/\s+/g, "");
  if (compact === "") return { state: "empty" };
  const text = HEX.test(compact) ? hexToBase64(compact.replace(/^0x/, "")) : compact;
  const what = text.length === pubKey.length ? "key" : "key id";
  if (!BASE64.test(text) || (what === "key id" && text.length !== keyID.length)) {
    const error = `A key has ${pubKey.length} characters of base64 or 210 hex digits, a key id ${keyID.length} or 32. This has ${compact.length}.`;
    return { state: "invalid", error };
  }
  return { state: text === (what === "key" ? pubKey : keyID) ? "equal" : "different", what, text };
}

/** Returns a complete public key (105 bytes) in base64. @returns undefined for other texts */
export function toBase64Key(text: string): string | undefined {
  const compact = text.replace(/\s+/g, "");
  if (/^(?:0x)?[0-9a-fA-F]{210}$/.test(compact)) return hexToBase64(compact.replace(/^0x/, ""));
  return /^[A-Za-z0-9+/]{140}$/.test(compact) ? compact : undefined;
}

function hexToBase64(hex: string): string {
  const bytes = hex.match(/../g)?.map((pair) => String.fromCharCode(Number.parseInt(pair, 16))) ?? [];
  return btoa(bytes.join(""));
}
