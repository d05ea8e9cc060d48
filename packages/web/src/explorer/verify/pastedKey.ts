import type { KeyRecord } from "keyroot";
import { bytesIn, toBase64 } from "../../shared/keyText.ts";

/** The result of comparing a pasted key or key id with the published key. */
export type PastedKey =
  | { state: "empty" }
  | { state: "invalid"; error: string }
  | { state: "equal" | "different"; what: "key" | "key id"; text: string };

/** Compares a pasted key or key id, in base64 or hex, with the published key. */
export function comparePasted(pasted: string, { pubKey, keyID }: KeyRecord): PastedKey {
  const compact = pasted.replace(/\s+/g, "");
  if (compact === "") return { state: "empty" };
  for (const [what, published] of [
    ["key", pubKey],
    ["key id", keyID],
  ] as const) {
    const text = toBase64(compact, bytesIn(published));
    if (text !== undefined) return { state: text === published ? "equal" : "different", what, text };
  }
  const [keyDigits, idDigits] = [pubKey, keyID].map((text) => 2 * bytesIn(text));
  const error = `A key has ${pubKey.length} characters of base64 or ${keyDigits} hex digits, a key id ${keyID.length} or ${idDigits}. This has ${compact.length}.`;
  return { state: "invalid", error };
}
