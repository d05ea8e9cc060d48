import { equalBytes } from "@noble/curves/utils.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUtf8 } from "../engine/utf8.ts";
import { base64ToBytes } from "../bytes/base64.ts";
import { bytesToHex, hexToBytes } from "../bytes/hex.ts";
import { sha512 } from "../bytes/sha512.ts";
import { ArgumentError, VerificationError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { checkObject } from "../input/options.ts";
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

/** The safety code of two users. Both users see the same digits only if both apps use the same two keys. */
export interface SafetyCode {
  /** The 60 decimal digits that the two users compare. */
  digits: string;
  /** The text of the QR code: 228 characters in alphanumeric mode. The contact's app verifies this text. */
  payload: string;
}

const DOMAIN = encodeUtf8("keyroot-safety-code-v1");
/**
 * The number of hash iterations, as in Signal's apps. An attacker who searches for another key with the same digits
 * needs this many hashes for each attempt.
 */
const ITERATIONS = 5200;
/** The number of digit groups per user. Each group has five digits and is computed from 5 bytes. */
const GROUPS = 6;
const GROUP_BYTES = 5;
/** The size in bytes of the hash in a payload: 256 bits. */
const FINGERPRINT_BYTES = 32;

/**
 * The format of a payload. All characters are allowed in a QR code's alphanumeric mode (ISO/IEC 18004, section 7.4.4).
 */
const FORMAT = "KEYROOT-SAFETY-1";
const PAYLOAD = /^KEYROOT-SAFETY-1:([0-9A-F]{40}):([0-9A-F]{40}):([0-9A-F]{64}):([0-9A-F]{64})$/;

/**
 * Makes the safety code of two users. Both users' apps show this code. The digits are equal only if both apps use the
 * real keys of both users. Pass verified keys. Takes about 30 ms in Node, and 100 ms in browsers.
 *
 * The digits follow the design of Signal's numeric fingerprints (libsignal, `fingerprint.rs`). The function iterates
 * SHA-512 5,200 times over the user id and the key. Each user has 30 digits. The smaller number comes first.
 * docs/proof-formats.md specifies the digits.
 * @param keyType the type of both keys. Default: `curve41417`
 * @throws ArgumentError USER_ID_INVALID, BASE64_INVALID, and the errors of `checkPublicKey`; ARGUMENT_INVALID if both
 * users are the same
 * @example
 * const { digits, payload } = makeSafetyCode({ userID, publicKey }, { userID: contactID, publicKey: verifiedKey });
 * console.log(digits.match(/\d{5}/g).join(" "));
 */
export function makeSafetyCode(mine: KeyHolder, contact: KeyHolder, keyType?: KeyType): SafetyCode {
  const pair = parsePair(mine, contact, keyType);
  const hashes = pair.map(iterateHash);
  const parts = [...pair.map(({ id }) => id), ...hashes.map(fingerprintOf)].map((bytes) =>
    bytesToHex(bytes).toUpperCase(),
  );
  return { digits: hashes.map(digitsOf).sort().join(""), payload: [FORMAT, ...parts].join(":") };
}

/**
 * Verifies the payload that the contact's app shows as a QR code. The payload must belong to these two users, and both
 * apps must use the same two keys.
 * @param payload the scanned text
 * @param mine this app's user
 * @param contact the user who shows the payload
 * @param keyType the type of both keys. Default: `curve41417`
 * @throws VerificationError SAFETY_CODE_INVALID, step "file"; USER_MISMATCH, step "record"; SAFETY_CODE_MISMATCH, step
 * "key". For SAFETY_CODE_MISMATCH, `actual` contains "contact" if the two apps have different keys for the contact.
 * `actual` contains "mine" if the two apps have different keys for this app's user.
 * @throws ArgumentError as `makeSafetyCode`
 * @example
 * verifySafetyPayload(scanned, { userID, publicKey }, { userID: contactID, publicKey: verifiedKey });
 */
export function verifySafetyPayload(payload: string, mine: KeyHolder, contact: KeyHolder, keyType?: KeyType): void {
  const [my, their] = parsePair(mine, contact, keyType);
  // A payload begins with the user who shows the payload.
  const { ids, fingerprints } = parsePayload(payload);
  const [shower, other] = ids;
  if (shower === my.userID && other === their.userID) {
    throw new VerificationError(
      "record",
      "USER_MISMATCH",
      "The payload belongs to this app's user. Scan the code that the contact's app shows.",
    );
  }
  if (shower !== their.userID || other !== my.userID) {
    const message = `The payload is for the users ${shower} and ${other} instead of ${their.userID} and ${my.userID}. Scan the contact's own code.`;
    throw new VerificationError("record", "USER_MISMATCH", message, {
      expected: [their.userID, my.userID],
      actual: ids,
    });
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
  /** The bytes of the public key. */
  key: Uint8Array;
}

function parsePair(mine: KeyHolder, contact: KeyHolder, keyType: KeyType | undefined): [Side, Side] {
  const pair: [Side, Side] = [parseSide("The user", mine, keyType), parseSide("The contact", contact, keyType)];
  if (pair[0].userID !== pair[1].userID) return pair;
  throw new ArgumentError(
    "ARGUMENT_INVALID",
    `A safety code needs two different users, but both are ${pair[0].userID}.`,
  );
}

function parseSide(what: string, holder: KeyHolder, keyType: KeyType | undefined): Side {
  const { userID, publicKey } = checkObject(what, holder, "an object with userID and publicKey");
  const id = userIDToBytes(parseUserID(userID));
  const key = typeof publicKey === "string" ? base64ToBytes(publicKey) : publicKey;
  checkPublicKey(key, keyType);
  return { userID, id, key };
}

/** Computes a user's iterated hash. Id and key have fixed lengths, so two users never have the same input. */
function iterateHash({ id, key }: Side): Uint8Array {
  let hash = sha512(concatBytes(DOMAIN, id, key));
  for (let i = 1; i < ITERATIONS; i++) hash = sha512(concatBytes(hash, key));
  return hash;
}

function fingerprintOf(hash: Uint8Array): Uint8Array {
  return hash.slice(0, FINGERPRINT_BYTES);
}

/**
 * Computes a user's 30 decimal digits. The 40-bit numbers modulo 100,000 differ from uniform numbers by less than one
 * part in 10⁷.
 */
function digitsOf(hash: Uint8Array): string {
  let digits = "";
  for (let group = 0; group < GROUPS; group++) {
    const bytes = hash.slice(group * GROUP_BYTES, (group + 1) * GROUP_BYTES);
    digits += String(Number(`0x${bytesToHex(bytes)}`) % 100_000).padStart(5, "0");
  }
  return digits;
}

interface Payload {
  ids: [UserID, UserID];
  fingerprints: [Uint8Array, Uint8Array];
}

function parsePayload(payload: unknown): Payload {
  const [, id1, id2, fingerprint1, fingerprint2] = (typeof payload === "string" ? PAYLOAD.exec(payload) : null) ?? [];
  if (id1 === undefined || id2 === undefined || fingerprint1 === undefined || fingerprint2 === undefined) {
    const [version] = typeof payload === "string" ? (/^KEYROOT-SAFETY-\d+(?=:)/.exec(payload) ?? []) : [];
    const reason =
      version === undefined || version === FORMAT ? "" : " One of the two apps is out of date. Update both apps.";
    const message = `A safety payload must be ${FORMAT} with two ids and two fingerprints, but is ${describeValue(payload)}.${reason}`;
    throw new VerificationError("file", "SAFETY_CODE_INVALID", message, {
      expected: FORMAT,
      actual: describeValue(payload),
    });
  }
  return {
    ids: [userIDFromHex(id1.toLowerCase()), userIDFromHex(id2.toLowerCase())],
    fingerprints: [hexToBytes(fingerprint1), hexToBytes(fingerprint2)],
  };
}
