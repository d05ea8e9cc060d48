import { randomBytes } from "../bytes/randomBytes.ts";
import { ArgumentError } from "../errors.ts";
import { describeValue, isBytes } from "../input/values.ts";
import { bytesToHex, hexToBytes } from "../bytes/hex.ts";

/**
 * A user id of 160 bits in canonical form: 32 lowercase zBase32 characters. The contract uses the same id as 20 bytes,
 * and the HTTP API as 40 hex digits (docs/specification.md, "Limits").
 */
export type UserID = string;

/** The size of a user id in bytes: 160 bits (docs/specification.md, "Limits"). */
export const USER_ID_BYTES = 20;

/** The digits 0 to 31 of zBase32, Zooko Wilcox-O'Hearn's "human-oriented base-32 encoding". */
export const ZBASE32 = "ybndrfg8ejkmcpqxot1uwisza345h769";
/** The canonical form of a user id: 32 lowercase zBase32 characters. */
export const USER_ID = new RegExp(`^[${ZBASE32}]{32}$`);
const USER_ID_HEX = /^[0-9a-f]{40}$/;

/**
 * Checks whether a value is a user id in canonical form: 32 lowercase zBase32 characters.
 * @example
 * isUserID("ybndrfg8ejkmcpqxot1uwisza345h769"); // true
 */
export function isUserID(value: unknown): value is UserID {
  return typeof value === "string" && USER_ID.test(value);
}

/**
 * Checks that a value is a user id in canonical form and returns it.
 * @throws ArgumentError USER_ID_INVALID
 * @example
 * const userID = parseUserID(request.body.userID);
 */
export function parseUserID(value: unknown): UserID {
  if (isUserID(value)) return value;
  const shown = describeValue(value).replace(/"[0-9a-f]{40}"/, "$&. Use userIDFromHex");
  const message = `A user id must be 32 lowercase zBase32 characters, but is ${shown}.`;
  throw new ArgumentError("USER_ID_INVALID", message, { expected: USER_ID.source, actual: value });
}

/**
 * Converts the 20 bytes of a user id to the canonical form.
 * @throws ArgumentError USER_ID_INVALID
 * @example
 * userIDFromBytes(new Uint8Array(20)); // "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
 */
export function userIDFromBytes(bytes: Uint8Array): UserID {
  if (isBytes(bytes) && bytes.length === USER_ID_BYTES) {
    return bytesToHex(bytes).replace(/.{5}/g, encodeDigits);
  }
  const message = `A user id must be ${USER_ID_BYTES} bytes, but is ${describeValue(bytes)}.`;
  throw new ArgumentError("USER_ID_INVALID", message, { expected: USER_ID_BYTES, actual: describeValue(bytes) });
}

/**
 * Converts the hex form of a user id to the canonical form.
 * @param hex 40 lowercase hex digits, without 0x
 * @throws ArgumentError USER_ID_INVALID
 * @example
 * userIDFromHex("00".repeat(20)); // "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
 */
export function userIDFromHex(hex: string): UserID {
  if (typeof hex === "string" && USER_ID_HEX.test(hex)) return userIDFromBytes(hexToBytes(hex));
  const message = `A user id in hex must be 40 lowercase hex digits without 0x, but is ${describeValue(hex)}.`;
  throw new ArgumentError("USER_ID_INVALID", message, { expected: USER_ID_HEX.source, actual: hex });
}

/**
 * Converts a user id to 40 lowercase hex digits, without 0x.
 * @throws ArgumentError USER_ID_INVALID
 * @example
 * userIDToHex("ybndrfg8ejkmcpqxot1uwisza345h769"); // "00443214c74254b635cf84653a56d7c675be77df"
 */
export function userIDToHex(userID: UserID): string {
  return parseUserID(userID).replace(/.{4}/g, decodeDigits);
}

/**
 * Generates a user id from 160 random bits of the system's secure generator.
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED if there is no secure generator
 * @example
 * const userID = randomUserID();
 */
export function randomUserID(): UserID {
  return userIDFromBytes(randomBytes(USER_ID_BYTES));
}

/** Encodes 5 hex digits (20 bits) as 4 digits of zBase32. */
function encodeDigits(hex: string): string {
  const bits = parseInt(hex, 16);
  let digits = "";
  for (let shift = 15; shift >= 0; shift -= 5) digits += ZBASE32.charAt((bits >> shift) & 31);
  return digits;
}

/** Decodes 4 digits of zBase32 (20 bits) to 5 hex digits. */
function decodeDigits(digits: string): string {
  let bits = 0;
  for (const digit of digits) bits = bits * 32 + ZBASE32.indexOf(digit);
  return bits.toString(16).padStart(5, "0");
}
