import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeUtf8, isWellFormed } from "../engine/utf8.ts";
import { ArgumentError } from "../errors.ts";
import { USER_ID_BYTES, type UserID, userIDFromBytes } from "./userID.ts";
import { isBytes } from "../input/values.ts";

/** Minimum size of a secret in bytes. RFC 2104, section 3, advises against HMAC keys that are shorter than the hash. */
const MIN_SECRET_BYTES = 32;

/**
 * Derives a user id from the partner's own identifier for the user. The id is the first 160 bits of HMAC-SHA-256 (RFC
 * 2104) over the identifier in UTF-8, with a secret of the partner as the key. A plain hash would be unsafe.
 * Identifiers such as email addresses can be guessed, so anyone could compute the user's id and find it on the public
 * chain, or register it first.
 *
 * The same secret and identifier always result in the same id. An identifier that is written differently results in a
 * different id, so normalize its case and its Unicode form first.
 * @param secret at least 32 random bytes. Keep them secret, because they connect identifiers with user ids.
 * @param identifier any text that is not empty
 * @throws ArgumentError SECRET_TOO_SHORT, IDENTIFIER_INVALID
 * @example
 * const userID = deriveUserID(secret, email.trim().toLowerCase().normalize("NFC"));
 */
export function deriveUserID(secret: Uint8Array, identifier: string): UserID {
  if (!isBytes(secret) || secret.length < MIN_SECRET_BYTES) {
    const message = `The secret must be a Uint8Array of at least ${MIN_SECRET_BYTES} bytes.`;
    throw new ArgumentError("SECRET_TOO_SHORT", message);
  }
  // UTF-8 cannot encode a surrogate without a partner, so different identifiers could result in the same id.
  if (typeof identifier !== "string" || identifier === "" || !isWellFormed(identifier)) {
    throw new ArgumentError("IDENTIFIER_INVALID", "The identifier must be non-empty, well-formed Unicode text.");
  }
  return userIDFromBytes(hmac(sha256, secret, encodeUtf8(identifier)).slice(0, USER_ID_BYTES));
}
