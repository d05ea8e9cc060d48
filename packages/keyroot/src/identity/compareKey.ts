import { base64ToBytes, bytesToBase64 } from "../bytes/base64.ts";
import { VerificationError } from "../errors.ts";
import { isBytes } from "../input/values.ts";
import { invalidArgument } from "../input/options.ts";
import { curve41417 } from "./keyTypes/curve41417.ts";
import { checkLength, type KeyType } from "./keyTypes/keyType.ts";

/** The type of `ANY_KEY`. It replaces `unique symbol`, which TypeScript widens to `symbol` inside an object. */
type AnyKey = symbol & { readonly description: "keyroot.ANY_KEY" };

/**
 * The value of `expectedPublicKey` that accepts any published key without a comparison. This value is a symbol, so a
 * server cannot send it in JSON.
 * @example
 * const { publicKey } = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
 */
export const ANY_KEY = /* @__PURE__ */ Symbol.for("keyroot.ANY_KEY") as AnyKey;

/**
 * The key that a server returned for a user, as bytes (105 for Curve41417) or in base64. `ANY_KEY` accepts any
 * published key.
 */
export type ExpectedKey = Uint8Array | string | AnyKey;

/** An expected key as bytes, or `ANY_KEY`. */
export type ExpectedBytes = Uint8Array | AnyKey;

/**
 * Checks an expected key. The value `undefined` is rejected. Otherwise, if a server renamed the field with the key, the
 * comparison would silently be skipped.
 * @returns a copy of the key, because the caller may change the bytes before the comparison
 * @throws ArgumentError PUBLIC_KEY_LENGTH, KEY_TYPE_MISMATCH, BASE64_INVALID. ARGUMENT_INVALID if the key is missing.
 */
export function parseExpectedKey(expected: unknown, keyType: KeyType = curve41417): ExpectedBytes {
  if (expected === ANY_KEY) return ANY_KEY;
  const key = typeof expected === "string" ? base64ToBytes(expected) : expected;
  if (isBytes(key)) return new Uint8Array(checkLength(key, keyType, "The expectedPublicKey option"));
  throw invalidArgument("The expectedPublicKey option", `${keyType.length} bytes, their base64, or ANY_KEY`, expected);
}

/** Compares a published key with the expected key. @throws VerificationError KEY_MISMATCH, step "key" */
export function compareKey({ userID, pubKey }: { userID: string; pubKey: string }, expected: ExpectedBytes): void {
  if (typeof expected === "symbol") return;
  const actual = bytesToBase64(expected);
  if (actual === pubKey) return;
  const message = `The given key of the user ${userID} is ${actual}, but the published key is ${pubKey}. Do not use the given key.`;
  throw new VerificationError("key", "KEY_MISMATCH", message, { expected: pubKey, actual });
}
