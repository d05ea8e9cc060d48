import { bytesToBase64 } from "../../bytes/base64.ts";
import { ArgumentError } from "../../errors.ts";
import { describeValue, isBytes, isObject } from "../../input/values.ts";
import { invalidArgument } from "../../input/options.ts";
import { type KeyTypeName, titlesOf } from "./rows.ts";

export type { KeyTypeName };

/** A key pair that `generateKeyOf` made. */
export interface GeneratedKey {
  publicKey: Uint8Array;
  /** The private key in the type's own form. For `document`, the document itself. */
  privateKey: unknown;
}

/**
 * A type of public keys. Each registry publishes keys of only one type, and every app, publisher and auditor configures
 * this type. It is never read from data, because a server could then choose the type.
 */
export interface KeyType {
  readonly name: KeyTypeName;
  /** The name for readers, such as "Curve41417". */
  readonly title: string;
  /** The length of a public key in bytes. */
  readonly length: number;
  /**
   * How a user proves at registration that the key is theirs: with a shared secret or with a signature. The value is
   * `partner` for keys that cannot prove anything. The partner then authorizes the key.
   */
  readonly possession: "shared secret" | "signature" | "partner";
  /** The maximum length of a signature in bytes, for types that sign. For P-256, it is the length in DER. */
  readonly signatureBytes?: number;
  /**
   * Checks a public key. Verifiers, publishers and auditors all make the same checks.
   * @throws ArgumentError PUBLIC_KEY_LENGTH, KEY_TYPE_MISMATCH, PUBLIC_KEY_FORMAT, PUBLIC_KEY_NOT_ON_CURVE,
   * PUBLIC_KEY_SMALL_ORDER, PUBLIC_KEY_NOT_PRIME_ORDER
   */
  check(publicKey: Uint8Array): void;
}

/**
 * Checks that a key has the length of its type, and returns it.
 * @param subject the name of the key, for error messages
 * @throws ArgumentError KEY_TYPE_MISMATCH if the length is that of another key type, and PUBLIC_KEY_LENGTH for any
 * other wrong length. ARGUMENT_INVALID if the value is not a `Uint8Array`, which can only be a mistake in the program.
 */
export function checkLength(
  bytes: unknown,
  { title, length }: Pick<KeyType, "title" | "length">,
  subject = "The public key",
): Uint8Array {
  if (!isBytes(bytes)) throw invalidArgument(subject, `a Uint8Array of ${length} bytes (${title})`, bytes);
  if (bytes.length === length) return bytes;
  const actual = describeValue(bytes);
  const others = titlesOf(bytes.length);
  const problem = `${subject} must be ${length} bytes (${title}), but is ${actual}`;
  // The hex digits of a key are also base64, of three times half as many bytes.
  const hint = bytes.length === 1.5 * length ? " It may be in hex: pass bytes or base64." : "";
  if (others === undefined)
    throw new ArgumentError("PUBLIC_KEY_LENGTH", `${problem}.${hint}`, { expected: length, actual });
  const message = `${problem} (${others}). Configure the registry's key type.`;
  throw new ArgumentError("KEY_TYPE_MISMATCH", message, { expected: length, actual });
}

/** Checks the keyType option, and returns it. @throws ArgumentError ARGUMENT_INVALID */
export function checkKeyType(keyType: KeyType): KeyType {
  const { name, length, check } = (isObject(keyType) ? keyType : {}) as Partial<KeyType>;
  if (typeof name === "string" && Number.isInteger(length) && typeof check === "function") return keyType;
  throw invalidArgument("The keyType option", 'a key type of "keyroot/key-types", such as x25519', keyType);
}

/** Makes the error for a key that fails a check of its type. It may be a key of another type with the same length. */
export function invalidKey(
  code: "PUBLIC_KEY_FORMAT" | "PUBLIC_KEY_NOT_ON_CURVE" | "PUBLIC_KEY_SMALL_ORDER" | "PUBLIC_KEY_NOT_PRIME_ORDER",
  problem: string,
  publicKey: Uint8Array,
): ArgumentError {
  const actual = bytesToBase64(publicKey);
  const titles = titlesOf(publicKey.length);
  const hint = titles?.includes(" or ")
    ? ` It has the length of ${titles} keys, so check the registry's key type.`
    : "";
  return new ArgumentError(code, `The public key ${actual} ${problem}.${hint}`, { actual });
}
