import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { hexToBytes, randomBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base32nopad } from "@scure/base";
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { bytesToHex } from "../bytes/platform.ts";

/**
 * A user's identifier: 160 bits. Its canonical form is 32 characters of zBase32 in lower case; the contract takes the
 * 20 bytes, the HTTP API 40 hex digits (specification, "Limits").
 */
export type UserID = string;

/** 160 bits (specification, "User identifiers"). */
export const USER_ID_BYTES = 20;

/** Zooko Wilcox-O'Hearn's human-oriented base-32 encoding: the digits 0 to 31. */
const ZBASE32 = "ybndrfg8ejkmcpqxot1uwisza345h769";
/** The same digits in RFC 4648, section 6. 160 bits are 32 digits of 5 bits: with no remainder only the letters differ. */
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const TO_ZBASE32 = respelling(BASE32, ZBASE32);
const TO_BASE32 = respelling(ZBASE32, BASE32);

const USER_ID = new RegExp(`^[${ZBASE32}]{32}$`);
const USER_ID_HEX = /^[0-9a-f]{40}$/;

/** HMAC keys shorter than the hash are discouraged (RFC 2104, section 3). */
const MIN_SECRET_BYTES = 32;

/** Tells whether a value is a user id in its canonical form. */
export function isUserID(value: unknown): value is UserID {
  return typeof value === "string" && USER_ID.test(value);
}

/**
 * Returns the user id that it was given.
 * @throws ArgumentError USER_ID_INVALID unless it is 32 characters of zBase32 in lower case
 */
export function parseUserID(value: unknown): UserID {
  if (isUserID(value)) return value;
  throw new ArgumentError(
    "USER_ID_INVALID",
    `${describeValue(value)} is not a user id: expected 32 characters of zBase32 in lower case.`,
    { expected: USER_ID.source, actual: value },
  );
}

/**
 * @param bytes the 20 bytes of a user id
 * @throws ArgumentError USER_ID_INVALID for anything else
 */
export function userIDFromBytes(bytes: Uint8Array): UserID {
  if (bytes instanceof Uint8Array && bytes.length === USER_ID_BYTES) {
    return respell(base32nopad.encode(bytes), TO_ZBASE32);
  }
  const message = `A user id must be ${USER_ID_BYTES} bytes, it is ${describeValue(bytes)}.`;
  throw new ArgumentError("USER_ID_INVALID", message, { expected: USER_ID_BYTES, actual: describeValue(bytes) });
}

/** @throws ArgumentError USER_ID_INVALID */
export function userIDToBytes(userID: UserID): Uint8Array {
  return base32nopad.decode(respell(parseUserID(userID), TO_BASE32));
}

/**
 * @param hex 40 hex digits in lower case, without 0x
 * @throws ArgumentError USER_ID_INVALID for anything else
 */
export function userIDFromHex(hex: string): UserID {
  if (typeof hex === "string" && USER_ID_HEX.test(hex)) return userIDFromBytes(hexToBytes(hex));
  throw new ArgumentError(
    "USER_ID_INVALID",
    `${describeValue(hex)} is not a user id in hex: expected 40 hex digits in lower case, without 0x.`,
    { expected: USER_ID_HEX.source, actual: hex },
  );
}

/** 40 hex digits in lower case. @throws ArgumentError USER_ID_INVALID */
export function userIDToHex(userID: UserID): string {
  return bytesToHex(userIDToBytes(userID));
}

/** A user id of 160 bits from the system's random source. */
export function randomUserID(): UserID {
  return userIDFromBytes(randomBytes(USER_ID_BYTES));
}

/**
 * The user id that belongs to a partner's own identifier for a user: the first 160 bits of HMAC-SHA-256 (RFC 2104) over
 * its UTF-8 bytes, under a secret of the partner. (A bare hash of, say, an e-mail address on a public chain could be
 * guessed, and an id could be taken before its user comes.) The same secret and identifier give the same id for ever;
 * spelling counts, so bring identifiers into one form (case, Unicode normalization) first.
 * @param secret at least 32 bytes; whoever has it can tell which id is whose
 * @param identifier any text that is not empty
 * @throws ArgumentError SECRET_TOO_SHORT, IDENTIFIER_INVALID
 */
export function deriveUserID(secret: Uint8Array, identifier: string): UserID {
  if (!(secret instanceof Uint8Array) || secret.length < MIN_SECRET_BYTES) {
    throw new ArgumentError("SECRET_TOO_SHORT", `The secret must be ${MIN_SECRET_BYTES} bytes or more.`);
  }
  // A lone surrogate has no UTF-8 form: many identifiers would share one id.
  if (typeof identifier !== "string" || identifier === "" || !identifier.isWellFormed()) {
    throw new ArgumentError("IDENTIFIER_INVALID", "The identifier must be well-formed text that is not empty.");
  }
  return userIDFromBytes(hmac(sha256, secret, utf8ToBytes(identifier)).slice(0, USER_ID_BYTES));
}

function respell(digits: string, table: readonly string[]): string {
  let respelled = "";
  for (let i = 0; i < digits.length; i++) respelled += table[digits.charCodeAt(i)] ?? "";
  return respelled;
}

/** What stands for each character of one spelling in the other. */
function respelling(from: string, to: string): readonly string[] {
  const table: string[] = [];
  for (let i = 0; i < from.length; i++) table[from.charCodeAt(i)] = to.charAt(i);
  return table;
}
