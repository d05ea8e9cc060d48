import { parseUrl } from "../engine/parseUrl.ts";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUtf8 } from "../engine/utf8.ts";
import { ArgumentError } from "../errors.ts";
import { bytesToHex, hexToBytes } from "../bytes/hex.ts";
import { ADDRESS } from "../ethereum/rpcValues.ts";
import { checkInteger, checkObject, checkText, invalidArgument } from "../input/options.ts";
import { curve, encodePoint, ORDER, parsePrimeOrderPoint, randomScalar } from "./keyTypes/curve41417Group.ts";
import type { KeyPair } from "./newPublicKey.ts";
import { curve41417 } from "./keyTypes/curve41417.ts";
import { checkPublicKey, keyIDOf } from "./publicKey.ts";
import type { UserID } from "./userID.ts";
import { userIDToBytes } from "./userIDBytes.ts";
import { isBytes } from "../input/isBytes.ts";

/**
 * A proof that a user has the private key of a public key. The proof uses Diffie-Hellman and a MAC, as RFC 6955 does
 * for keys that cannot sign. docs/proof-formats.md specifies the format.
 *
 * The service generates an ephemeral key pair for each challenge. Both sides compute the same shared point. The user's
 * app computes the point from the user's private key and the ephemeral public key. The service computes the point from
 * the ephemeral private key and the user's public key. The response is a MAC with a key that is derived from this
 * point. The response reveals nothing about the point.
 */

/** The statement that a response proves. Each response is valid for only one statement. */
export interface PossessionStatement {
  /** The name of the service: the service's URL in the form that `serviceNameOf` returns. */
  service: string;
  /** The chain and the contract in which the service publishes keys. Undefined if the service publishes no keys. */
  registry: { chainId: number; contract: string } | undefined;
  userID: UserID;
  /** The public key to register, 105 bytes. */
  publicKey: Uint8Array;
  /** The challenge: 32 random bytes that the service generates. */
  nonce: Uint8Array;
  /** The ephemeral public key of the service for this challenge, 105 bytes. */
  ephemeralKey: Uint8Array;
  /** The time at which the challenge expires, in ms since 1970. */
  expires: number;
}

/** The size of a challenge's nonce in bytes. */
export const NONCE_BYTES = 32;
/** The size of a response in bytes. A response is an HMAC-SHA-256. */
export const RESPONSE_BYTES = 32;

/**
 * The first bytes of every transcript, and the context of the MAC key. This label separates the MAC from other
 * protocols.
 */
const LABEL = "keyroot-possession-v1";
const ZERO_ADDRESS = "0".repeat(40);
const MAX_SERVICE_BYTES = 2 ** 16 - 1;

/**
 * Returns the form of a service's URL that statements contain: the URL standard's normal form without trailing slashes.
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
 * Returns the bytes that the MAC covers. A field of variable length begins with the field's length, so two statements
 * never have the same bytes.
 * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, PUBLIC_KEY_LENGTH
 */
export function possessionTranscript(statement: PossessionStatement): Uint8Array {
  const { service, registry, userID, publicKey, nonce, ephemeralKey, expires } = checkObject(
    "The statement",
    statement,
  );
  const name = encodeUtf8(checkText("The service's name", service));
  if (name.length > MAX_SERVICE_BYTES)
    throw invalidArgument("The service's name", `at most ${MAX_SERVICE_BYTES} bytes`, service);
  const contract = checkText("The contract", registry?.contract ?? `0x${ZERO_ADDRESS}`, "an address", ADDRESS);
  return concatBytes(
    encodeUtf8(LABEL),
    unsigned(name.length, 2),
    name,
    unsigned(checkInteger("The chain id", registry?.chainId ?? 0, registry === undefined ? 0 : 1), 8),
    hexToBytes(contract.slice(2)),
    userIDToBytes(userID),
    checkBytes("The public key", publicKey, curve41417.length),
    keyIDOf(publicKey),
    checkBytes("The nonce", nonce, NONCE_BYTES),
    checkBytes("The ephemeral key", ephemeralKey, curve41417.length),
    unsigned(checkInteger("The time of expiry", expires, 0), 8),
  );
}

/**
 * Computes the response to a challenge with the private key. Checks the service's ephemeral key first, because a point
 * of small or mixed order would reveal information about the private key.
 * @returns the response, 32 bytes
 * @throws ArgumentError as `checkPublicKey` and PUBLIC_KEY_NOT_PRIME_ORDER, for the ephemeral key; ARGUMENT_INVALID
 * @example
 * const { publicKey, privateKey } = generateKeyPair();
 * // The nonce, the ephemeral key and the time of expiry are the service's challenge.
 * const response = provePossession({ service, registry, userID, publicKey, nonce, ephemeralKey, expires }, privateKey);
 */
export function provePossession(statement: PossessionStatement, privateKey: bigint): Uint8Array {
  const ephemeral = parsePrimeOrderPoint(checkObject("The statement", statement).ephemeralKey);
  return responseOf(statement, encodePoint(ephemeral.multiply(checkPrivateKey(privateKey))));
}

/**
 * Computes the response to a challenge from a shared point that secure hardware computed. The shared point is the
 * ephemeral key times the private key. Check the ephemeral key with `checkNewPublicKey` before you pass the ephemeral
 * key to the hardware.
 * @param sharedPoint 105 bytes, encoded like a public key
 * @returns the response, 32 bytes
 * @throws ArgumentError as `checkPublicKey`, for the shared point, and as `possessionTranscript`
 */
export function responseOf(statement: PossessionStatement, sharedPoint: Uint8Array): Uint8Array {
  checkPublicKey(sharedPoint);
  const transcript = possessionTranscript(statement);
  const key = hkdf(sha256, sharedPoint, statement.nonce, encodeUtf8(LABEL), RESPONSE_BYTES);
  return hmac(sha256, key, transcript);
}

/** A statement without the ephemeral key, which `makeChallenge` generates. */
export type ChallengeRequest = Omit<PossessionStatement, "ephemeralKey">;

/**
 * Makes a challenge in the service. Checks the public key as `checkNewPublicKey` does, and generates an ephemeral key
 * pair. The function computes the expected response immediately, so the service does not need the ephemeral private
 * key. Takes about 7 ms.
 * @returns the ephemeral key, 105 bytes, and the only valid response, 32 bytes
 * @throws ArgumentError as `checkNewPublicKey` and `possessionTranscript`
 */
export function makeChallenge(
  request: ChallengeRequest,
  ephemeralPrivateKey: bigint = randomScalar(),
): { ephemeralKey: Uint8Array; response: Uint8Array } {
  const point = parsePrimeOrderPoint(checkObject("The request", request).publicKey);
  const ephemeralKey = encodePoint(curve().BASE.multiply(checkPrivateKey(ephemeralPrivateKey)));
  const sharedPoint = encodePoint(point.multiply(ephemeralPrivateKey));
  return { ephemeralKey, response: responseOf({ ...request, ephemeralKey }, sharedPoint) };
}

/**
 * Checks that a private key belongs to a public key.
 * @throws ArgumentError ARGUMENT_INVALID. The message does not contain the private key.
 */
export function checkKeyPair({ privateKey, publicKey }: KeyPair): void {
  const own = encodePoint(curve().BASE.multiply(checkPrivateKey(privateKey)));
  if (bytesToHex(own) === bytesToHex(publicKey)) return;
  throw new ArgumentError(
    "ARGUMENT_INVALID",
    "The private key does not belong to the public key. Pass both keys of one pair.",
  );
}

function checkPrivateKey(privateKey: unknown): bigint {
  if (typeof privateKey === "bigint" && privateKey > 0n && privateKey < ORDER) return privateKey;
  const message = "The private key must be a bigint from 1 to the curve's order minus 1.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

function checkBytes(what: string, bytes: Uint8Array, length: number): Uint8Array {
  if (isBytes(bytes) && bytes.length === length) return bytes;
  throw invalidArgument(what, `${length} bytes`, bytes);
}

/** Encodes a number as big-endian bytes. */
function unsigned(value: number, bytes: number): Uint8Array {
  return hexToBytes(value.toString(16).padStart(2 * bytes, "0"));
}
