import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUtf8 } from "../../engine/utf8.ts";
import { base64 } from "../../bytes/base64.ts";
import { sha256Hex } from "../../bytes/sha256.ts";
import { ArgumentError } from "../../errors.ts";
import { ed25519 } from "../../identity/keyTypes/ed25519.ts";
import { describeValue } from "../../input/values.ts";

/** The public key of an auditor. */
export interface AuditorKey {
  /** The key as text: name, key id and public key, separated by plus signs (C2SP signed-note, "vkey"). */
  text: string;
  /** The auditor's name: a URL without the scheme. */
  name: string;
  /** The key id: 8 lowercase hex digits from the hash of the name and the public key. */
  id: string;
  /** The public key: 32 bytes that encode a point of prime order in canonical form. */
  publicKey: Uint8Array;
}

/**
 * The form of an auditor's name: 1 to 100 visible ASCII characters without the plus sign. C2SP signed-note allows more
 * characters, but some of them look alike on a screen.
 */
export const AUDITOR_NAME = /^[!-*,-~]{1,100}$/;
/** The byte that identifies Ed25519 keys (C2SP signed-note, "Signature types"). */
const ED25519 = 1;
const ID_DIGITS = 8;

/**
 * Makes an auditor's key from the name and the public key (32 bytes).
 * @throws ArgumentError AUDITOR_KEY_INVALID
 */
export function makeAuditorKey(name: string, publicKey: Uint8Array): AuditorKey {
  if (typeof name !== "string" || !AUDITOR_NAME.test(name))
    throw invalidKey("Its name must have 1 to 100 visible ASCII characters, and no plus sign", name);
  checkPoint(publicKey);
  const encoded = concatBytes(Uint8Array.of(ED25519), publicKey);
  const id = sha256Hex(concatBytes(encodeUtf8(`${name}\n`), encoded)).slice(0, ID_DIGITS);
  return { text: `${name}+${id}+${base64.encode(encoded)}`, name, id, publicKey };
}

/**
 * Parses an auditor's key. Each key has exactly one valid text.
 * @throws ArgumentError AUDITOR_KEY_INVALID
 */
export function parseAuditorKey(text: unknown): AuditorKey {
  // Only the first two plus signs separate parts, because base64 may contain more plus signs.
  const [, name = "", encoded = ""] = /^([^+]+)\+[^+]+\+(.+)$/.exec(typeof text === "string" ? text : "") ?? [];
  const bytes = base64.decode(encoded);
  if (bytes?.[0] !== ED25519 || bytes.length !== 1 + ed25519.length) {
    const form = "a name, a key id, and canonical base64 of 0x01 and 32 bytes, separated by plus signs";
    throw invalidKey(`It must contain ${form}`, text);
  }
  const key = makeAuditorKey(name, bytes.slice(1));
  if (key.text === text) return key;
  throw invalidKey(`Its correct key id is ${key.id}`, text);
}

/** Checks that a public key is a canonical point (RFC 8032, section 5.1.3) of prime order. */
function checkPoint(publicKey: Uint8Array): void {
  try {
    ed25519.check(publicKey);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    throw invalidKey("Its 32 bytes must be a canonical point of prime order", publicKey);
  }
}

function invalidKey(reason: string, actual: unknown): ArgumentError {
  const message = `The auditor's key ${describeValue(actual)} is invalid. ${reason}.`;
  return new ArgumentError("AUDITOR_KEY_INVALID", message, { actual: describeValue(actual) });
}
