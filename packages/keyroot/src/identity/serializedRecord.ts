import { curve41417 } from "./keyTypes/curve41417.ts";
import type { KeyType } from "./keyTypes/keyType.ts";
import type { UserID } from "./userID.ts";

/** The published record of a user's public key (docs/specification.md, "Public key record"). */
export interface KeyRecord {
  userID: UserID;
  /** The public key in base64: 105 bytes for Curve41417. */
  pubKey: string;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  keyID: string;
}

/** The length in characters of a record that `serializeKeyRecord` wrote, without the key. */
const FRAME_LENGTH = 92;
/**
 * Regular expressions for the records that `serializeKeyRecord` writes. There is one for each remainder of the key's
 * length modulo 3, because the remainder determines how canonical base64 ends.
 *
 * They are twice as fast as a JSON parser. For this speed, they do not count characters, and they use \w, which is four
 * times as fast as [A-Za-z0-9] but also matches underscores. The caller must therefore check the length and reject
 * underscores.
 */
const SERIALIZED = ["", "[AQgw]==", "[AEIMQUYcgkosw048]="].map(
  (end) =>
    new RegExp(
      `^{"userID":"([ybndrfg8ejkmcpqxot1uwisza345h769]{32})","pubKey":"(\\w*(?:[+/]\\w*)*${end})","keyID":"([A-Za-z0-9+/]{21}[AQgw]==)"}$`,
    ),
);

/**
 * Returns the length in characters of a record with a key of this type. All keys of a type have the same length in
 * canonical base64, so their records do, too.
 */
export function serializedLength({ length }: KeyType): number {
  return FRAME_LENGTH + 4 * Math.ceil(length / 3);
}

/**
 * Parses a record's text as `serializeKeyRecord` writes it.
 * @returns undefined for any other text, whether valid or invalid
 */
export function parseSerializedRecord(text: string, keyType: KeyType = curve41417): KeyRecord | undefined {
  // The type is checked first, because `exec` converts other values to text.
  const isCandidate = typeof text === "string" && text.length === serializedLength(keyType) && !text.includes("_");
  const match = isCandidate && (SERIALIZED[keyType.length % 3]?.exec(text) as [string, string, string, string] | null);
  // Destructuring would take twice as long until engines optimize this function, and a file has many records.
  return match ? { userID: match[1], pubKey: match[2], keyID: match[3] } : undefined;
}
