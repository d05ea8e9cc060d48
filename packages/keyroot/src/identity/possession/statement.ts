import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { hexToBytes } from "../../bytes/hex.ts";
import { sha256Hex } from "../../bytes/sha256.ts";
import { hasOwn } from "../../engine/language.ts";
import { parseUrl } from "../../engine/parseUrl.ts";
import { encodeUtf8 } from "../../engine/utf8.ts";
import { ADDRESS } from "../../ethereum/rpcValues.ts";
import { isBytes } from "../../input/values.ts";
import { checkInteger, checkObject, checkText, invalidArgument } from "../../input/options.ts";
import type { KeyTypeName } from "../keyTypes/keyType.ts";
import { ROWS } from "../keyTypes/rows.ts";
import { checkPublicKey, KEY_ID_BYTES } from "../publicKey.ts";
import type { UserID } from "../userID.ts";
import { userIDToBytes } from "../userIDBytes.ts";

/** The statement that a response proves. Each response is valid for only one statement. */
export interface PossessionStatement {
  /** The type of the registry's keys, from the app's own configuration. Default: `curve41417`. */
  keyType?: KeyTypeName | undefined;
  /** The name of the service: the service's URL in the form that `serviceNameOf` returns. */
  service: string;
  /** The chain and the contract in which the service publishes keys. Undefined if the service publishes no keys. */
  registry: { chainId: number; contract: string } | undefined;
  userID: UserID;
  /** The public key to register. */
  publicKey: Uint8Array;
  /** The challenge: 32 random bytes that the service generates. */
  nonce: Uint8Array;
  /** The ephemeral public key of the service for this challenge. Empty for keys that sign. */
  ephemeralKey: Uint8Array;
  /** The time at which the challenge expires, in ms since 1970. */
  expires: number;
}

/** A statement without the ephemeral key, which the service generates. */
export type ChallengeRequest = Omit<PossessionStatement, "ephemeralKey">;

/** The size of a challenge's nonce in bytes. */
export const NONCE_BYTES = 32;
/** The size of a response in bytes that is an HMAC-SHA-256. */
export const RESPONSE_BYTES = 32;

const ZERO_ADDRESS = "0".repeat(40);
const MAX_SERVICE_BYTES = 2 ** 16 - 1;

/**
 * Returns a service's URL in the form that statements contain. This is the normal form of the URL standard, without
 * trailing slashes.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function serviceNameOf(url: string): string {
  try {
    return parseUrl(url).href.replace(/\/+$/, "");
  } catch {
    throw invalidArgument("The service's name", "its URL", url);
  }
}

/**
 * Returns the bytes of a statement that the MAC or the signature covers. Every field of variable length begins with its
 * length, so two different statements never have the same bytes.
 * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID
 * @example
 * // In `prove` of an Ed25519 key that hardware holds:
 * const signature = await hardware.sign(possessionTranscript(statement));
 */
export function possessionTranscript(statement: PossessionStatement): Uint8Array {
  const { service, registry, userID, publicKey, nonce, ephemeralKey, expires } = checkObject(
    "The statement",
    statement,
  );
  const format = formatOf(statement);
  const name = encodeUtf8(checkText("The service's name", service));
  if (name.length > MAX_SERVICE_BYTES)
    throw invalidArgument("The service's name", `at most ${MAX_SERVICE_BYTES} bytes`, service);
  const contract = checkText("The contract", registry?.contract ?? `0x${ZERO_ADDRESS}`, "an address", ADDRESS);
  const key = checkBytes("The public key", publicKey, format.key);
  return concatBytes(
    encodeUtf8(format.label),
    unsigned(name.length, 2),
    name,
    unsigned(checkInteger("The chain id", registry?.chainId ?? 0, registry === undefined ? 0 : 1), 8),
    hexToBytes(contract.slice(2)),
    userIDToBytes(userID),
    key,
    hexToBytes(sha256Hex(key).slice(0, 2 * KEY_ID_BYTES)),
    checkBytes("The nonce", nonce, NONCE_BYTES),
    checkBytes("The ephemeral key", ephemeralKey, format.ephemeralKey),
    unsigned(checkInteger("The time of expiry", expires, 0), 8),
  );
}

/**
 * Computes the response to a challenge from a shared secret. Use it if secure hardware computes the shared secret,
 * which is the ephemeral key times the private key. Before you pass the ephemeral key to the hardware, check it with
 * `checkNewPublicKey` or with the key type's `check`.
 * @param sharedSecret for Curve41417, the shared point in 105 bytes, encoded like a public key; for X25519, 32 bytes
 * @returns the response, 32 bytes
 * @throws ArgumentError as `checkPublicKey`, for the shared point, and as `possessionTranscript`
 */
export function responseOf(statement: PossessionStatement, sharedSecret: Uint8Array): Uint8Array {
  const transcript = possessionTranscript(statement);
  const { label, ephemeralKey } = formatOf(statement);
  if (ephemeralKey === ROWS.curve41417.length) checkPublicKey(sharedSecret);
  else if (
    ephemeralKey === 0 ||
    checkBytes("The shared secret", sharedSecret, ephemeralKey).every((byte) => byte === 0)
  )
    throw invalidArgument("The shared secret", "the result of Diffie-Hellman with a valid ephemeral key", sharedSecret);
  const key = hkdf(sha256, sharedSecret, statement.nonce, encodeUtf8(label), RESPONSE_BYTES);
  return hmac(sha256, key, transcript);
}

/**
 * Returns the label of a key type, the length of its keys, and the length of the service's ephemeral key. Every
 * transcript begins with the label, so a MAC or a signature is never valid in another protocol or for another key type.
 */
function formatOf({ keyType = "curve41417" }: PossessionStatement) {
  const { name, length, possession } = hasOwn(ROWS, keyType) ? ROWS[keyType] : ROWS.document;
  const label = `keyroot-possession-${name === "curve41417" ? "" : `${name}-`}v1`;
  if (possession === "shared secret") return { label, key: length, ephemeralKey: length };
  if (possession === "signature") return { label, key: length, ephemeralKey: 0 };
  throw invalidArgument("The statement's keyType", "a type whose keys prove possession", keyType);
}

function checkBytes(what: string, bytes: Uint8Array, length: number): Uint8Array {
  if (isBytes(bytes) && bytes.length === length) return bytes;
  throw invalidArgument(what, `${length} bytes`, bytes);
}

/** Encodes a number as big-endian bytes. */
function unsigned(value: number, bytes: number): Uint8Array {
  return hexToBytes(value.toString(16).padStart(2 * bytes, "0"));
}
