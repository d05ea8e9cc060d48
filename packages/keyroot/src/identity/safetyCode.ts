import { equalBytes } from "@noble/curves/utils.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUtf8 } from "../engine/utf8.ts";
import { base64ToBytes } from "../bytes/base64.ts";
import { bytesToHex, hexToBytes } from "../bytes/hex.ts";
import { sha256Hex } from "../bytes/sha256.ts";
import { ArgumentError, VerificationError } from "../errors.ts";
import { describeValue } from "../input/values.ts";
import { checkObject, checkText } from "../input/options.ts";
import type { KeyType } from "./keyTypes/keyType.ts";
import { checkPublicKey } from "./publicKey.ts";
import { parseUserID, type UserID, userIDFromHex } from "./userID.ts";
import { userIDToBytes } from "./userIDBytes.ts";

/** A user, and the public key that an app uses for this user. */
export interface KeyHolder {
  /** The user id: 32 lowercase characters of zBase32. */
  userID: UserID;
  /** The public key: its bytes (105 for Curve41417), or the same bytes in base64. */
  publicKey: Uint8Array | string;
}

/**
 * A user of a registry with accounts. The safety code depends on the user's recovery keys instead of the public key, so
 * it stays the same when the public key changes.
 */
export interface AccountHolder {
  /** The account id: 32 lowercase characters of zBase32. */
  userID: UserID;
  /** The account text, or an account file, which begins with it. */
  account: string;
}

/** The safety code of two users. Both users see the same digits only if their apps use the same two keys. */
export interface SafetyCode {
  /** The 60 decimal digits that the two users compare. */
  digits: string;
  /** The text of the QR code, which the contact's app verifies: 228 characters in alphanumeric mode. */
  payload: string;
}

/** The first bytes of the hash, and the name of the payload's format, without and with accounts. */
const PLAIN = { domain: "keyroot-safety-code-v1", format: "KEYROOT-SAFETY-1" };
const ACCOUNTS = { domain: "keyroot-safety-code-v2", format: "KEYROOT-SAFETY-2" };
/**
 * The number of hash iterations, which is the same as in Signal's apps. An attacker who searches for a key with the
 * same digits must compute this many hashes for each key.
 */
const ITERATIONS = 5200;
/** The number of digit groups per user. Each group has five digits and is computed from 5 bytes. */
const GROUPS = 6;
const GROUP_BYTES = 5;
/** The size in bytes of the hash in a payload: 256 bits. */
const FINGERPRINT_BYTES = 32;

/** The form of a payload. A QR code's alphanumeric mode has all its characters (ISO/IEC 18004, section 7.4.4). */
const PAYLOAD = /^(KEYROOT-SAFETY-[12]):([0-9A-F]{40}):([0-9A-F]{40}):([0-9A-F]{64}):([0-9A-F]{64})$/;

/**
 * Makes the safety code that the apps of two users show. Both apps show the same digits only if they use the same two
 * keys. Pass verified keys. The computation takes about 100 ms.
 *
 * In a registry with accounts, pass both users' accounts instead of their keys. The code then stays the same when a
 * user changes the key.
 *
 * The digits follow the design of Signal's numeric fingerprints (libsignal, `fingerprint.rs`). SHA-512 is iterated
 * 5,200 times over the user id and the key, which results in 30 digits for each user. The smaller of the two numbers
 * comes first (docs/formats.md).
 * @param keyType the type of both keys. Default: `curve41417`
 * @throws ArgumentError USER_ID_INVALID, BASE64_INVALID, or an error of `checkPublicKey`. ARGUMENT_INVALID if both
 * users are the same, or if only one of them has an account.
 * @throws VerificationError ACCOUNT_MISMATCH, step "file"
 * @example
 * const { digits, payload } = makeSafetyCode({ userID, publicKey }, { userID: contactID, publicKey: verifiedKey });
 * console.log(digits.match(/\d{5}/g).join(" "));
 */
export function makeSafetyCode(
  mine: KeyHolder | AccountHolder,
  contact: KeyHolder | AccountHolder,
  keyType?: KeyType,
): SafetyCode {
  const { pair, format } = parsePair(mine, contact, keyType);
  const hashes = pair.map(iterateHash);
  const parts = [...pair.map(({ id }) => id), ...hashes.map(fingerprintOf)].map((bytes) =>
    bytesToHex(bytes).toUpperCase(),
  );
  return { digits: hashes.map(digitsOf).sort().join(""), payload: [format, ...parts].join(":") };
}

/**
 * Verifies the payload that the contact's app shows as a QR code. The payload must belong to these two users, and it
 * must show that both apps use the same two keys.
 * @param payload the scanned text
 * @param mine this app's user
 * @param contact the user who shows the payload
 * @param keyType the type of both keys. Default: `curve41417`
 * @throws VerificationError SAFETY_CODE_INVALID or ACCOUNT_MISMATCH, step "file"; USER_MISMATCH, step "record";
 * SAFETY_CODE_MISMATCH, step "key". In SAFETY_CODE_MISMATCH, `actual` shows whose key differs between the two apps. It
 * contains "contact" for the contact's key, and "mine" for the key of this app's user. The advice of
 * SAFETY_CODE_INVALID and USER_MISMATCH is `retry`, because the user only scanned a wrong text.
 * @throws ArgumentError as `makeSafetyCode`
 * @example
 * verifySafetyPayload(scanned, { userID, publicKey }, { userID: contactID, publicKey: verifiedKey });
 */
export function verifySafetyPayload(
  payload: string,
  mine: KeyHolder | AccountHolder,
  contact: KeyHolder | AccountHolder,
  keyType?: KeyType,
): void {
  const { pair, format } = parsePair(mine, contact, keyType);
  const [my, their] = pair;
  // A payload begins with the user who shows the payload.
  const { ids, fingerprints } = parsePayload(payload, format);
  const [shower, other] = ids;
  if (shower === my.userID && other === their.userID) {
    const message = "The payload belongs to this app's user. Scan the code that the contact's app shows.";
    throw wrongScan(new VerificationError("record", "USER_MISMATCH", message));
  }
  if (shower !== their.userID || other !== my.userID) {
    const message = `The payload is for the users ${shower} and ${other} instead of ${their.userID} and ${my.userID}. Scan the contact's own code.`;
    const expected = [their.userID, my.userID];
    throw wrongScan(new VerificationError("record", "USER_MISMATCH", message, { expected, actual: ids }));
  }
  // Always compare both fingerprints. Each comparison takes constant time.
  const theirsIsEqual = equalBytes(fingerprints[0], fingerprintOf(iterateHash(their)));
  const mineIsEqual = equalBytes(fingerprints[1], fingerprintOf(iterateHash(my)));
  if (theirsIsEqual && mineIsEqual) return;
  const actual = [...(theirsIsEqual ? [] : ["contact"]), ...(mineIsEqual ? [] : ["mine"])];
  const reasons = [
    theirsIsEqual ? "" : ` The two apps use different keys for the contact ${their.userID}.`,
    mineIsEqual ? "" : ` The two apps use different keys for this app's user ${my.userID}.`,
  ];
  const message = `The safety codes differ.${reasons.join("")} Do not use the keys, because an attacker may read the messages.`;
  throw new VerificationError("key", "SAFETY_CODE_MISMATCH", message, { expected: [], actual });
}

interface Side {
  userID: UserID;
  /** The 20 bytes of the user id. */
  id: Uint8Array;
  /** The bytes of the public key, or the SHA-256 of the account text. */
  key: Uint8Array;
  /** The first bytes of the hash. */
  domain: Uint8Array;
}

function parsePair(
  mine: KeyHolder | AccountHolder,
  contact: KeyHolder | AccountHolder,
  keyType: KeyType | undefined,
): { pair: [Side, Side]; format: string } {
  const what = "an object with userID, and with publicKey or account";
  const holders = [checkObject("The user", mine, what), checkObject("The contact", contact, what)] as const;
  const [hasAccount, other] = holders.map((holder) => "account" in holder);
  if (hasAccount !== other)
    throw new ArgumentError("ARGUMENT_INVALID", "A safety code needs the accounts of both users, or of none.");
  const { domain, format } = hasAccount ? ACCOUNTS : PLAIN;
  const pair: [Side, Side] = [parseSide(holders[0], keyType, domain), parseSide(holders[1], keyType, domain)];
  if (pair[0].userID !== pair[1].userID) return { pair, format };
  throw new ArgumentError(
    "ARGUMENT_INVALID",
    `A safety code needs two different users, but both are ${pair[0].userID}.`,
  );
}

function parseSide(holder: KeyHolder | AccountHolder, keyType: KeyType | undefined, domain: string): Side {
  const userID = parseUserID(holder.userID);
  const id = userIDToBytes(userID);
  if ("account" in holder) return { userID, id, key: hashAccount(id, holder.account), domain: encodeUtf8(domain) };
  const { publicKey } = holder;
  const key = typeof publicKey === "string" ? base64ToBytes(publicKey) : publicKey;
  checkPublicKey(key, keyType);
  return { userID, id, key, domain: encodeUtf8(domain) };
}

/** Returns the SHA-256 of an account text, whose first 160 bits must be the user id. */
function hashAccount(id: Uint8Array, account: string): Uint8Array {
  const [text = ""] = checkText("The account", account).split("\n\n", 1);
  const hash = sha256Hex(text.endsWith("\n") ? text : `${text}\n`);
  const [expected, actual] = [bytesToHex(id), hash.slice(0, 2 * id.length)];
  if (actual === expected) return hexToBytes(hash);
  const message = `The id of the account is ${actual} instead of ${expected}. It is another account.`;
  throw new VerificationError("file", "ACCOUNT_MISMATCH", message, { expected, actual });
}

/** Computes a user's iterated hash. Id and key have fixed lengths, so two users never have the same input. */
function iterateHash({ domain, id, key }: Side): Uint8Array {
  let hash = sha512(concatBytes(domain, id, key));
  for (let i = 1; i < ITERATIONS; i++) hash = sha512(concatBytes(hash, key));
  return hash;
}

function fingerprintOf(hash: Uint8Array): Uint8Array {
  return hash.slice(0, FINGERPRINT_BYTES);
}

/**
 * Computes a user's 30 decimal digits. Each group of five digits is a 40-bit number modulo 100,000. The groups are
 * nearly uniform: no value is more probable than another by more than one part in 10⁷.
 */
function digitsOf(hash: Uint8Array): string {
  let digits = "";
  for (let group = 0; group < GROUPS; group++) {
    const bytes = hash.slice(group * GROUP_BYTES, (group + 1) * GROUP_BYTES);
    digits += String(Number(`0x${bytesToHex(bytes)}`) % 100_000).padStart(5, "0");
  }
  return digits;
}

function parsePayload(payload: unknown, format: string) {
  const text = typeof payload === "string" ? payload : "";
  const [, version, ...parts] = PAYLOAD.exec(text) ?? [];
  const [shower, other, theirs, mine] = parts as [string, string, string, string];
  if (version === format)
    return {
      ids: [userIDFromHex(shower.toLowerCase()), userIDFromHex(other.toLowerCase())] as const,
      fingerprints: [hexToBytes(theirs), hexToBytes(mine)] as const,
    };
  const [otherFormat = format] = /^KEYROOT-SAFETY-\d+(?=:)/.exec(text) ?? [];
  const reason = otherFormat === format ? "" : " One of the two apps is out of date. Update both apps.";
  const actual = describeValue(payload);
  const message = `A safety payload must be ${format} with two ids and two fingerprints, but is ${actual}.${reason}`;
  throw wrongScan(new VerificationError("file", "SAFETY_CODE_INVALID", message, { expected: format, actual }));
}

/** Replaces the advice `warn` with `retry`, because a scan of a wrong text says nothing about the keys. */
function wrongScan(error: VerificationError): VerificationError {
  return Object.defineProperty(error, "advice", { value: "retry" });
}
