import { ArgumentError } from "../../errors.ts";
import type { ChallengeRequest, PossessionStatement } from "./statement.ts";

/** The service's part of a challenge. */
export interface MadeChallenge {
  /** Empty for keys that sign. */
  ephemeralKey: Uint8Array;
  /** The only valid response, or undefined if the response is a signature. */
  response: Uint8Array | undefined;
}

/**
 * The functions with which a service checks that users have the private keys of their public keys (docs/formats.md).
 * Each key type has its own functions. Apps do not load this code, because it includes the arithmetic of the curve,
 * which is large.
 */
export interface PossessionMethod {
  /**
   * Checks a new key and makes a challenge for it.
   * @param ephemeralPrivateKey the service's private key, for types with a shared secret. Default: a new key
   * @throws ArgumentError as the type's `check`, and PUBLIC_KEY_NOT_PRIME_ORDER
   */
  makeChallenge(request: ChallengeRequest, ephemeralPrivateKey?: Uint8Array): MadeChallenge;
  /** Whether a signature proves the statement. Only types that sign have this function. */
  isSignature?: (statement: PossessionStatement, signature: Uint8Array) => boolean;
}

/** The error for two keys of different pairs. */
export function foreignPrivateKey(): ArgumentError {
  const message = "The private key does not belong to the public key. Pass both keys of one pair.";
  return new ArgumentError("ARGUMENT_INVALID", message);
}

/**
 * A `CryptoKey` of WebCrypto, which may be one that cannot be exported. The type declares only the fields that Keyroot
 * reads, so that programs can use it without a platform's type library.
 */
export interface WebCryptoKey {
  readonly type: string;
  readonly algorithm: { readonly name: string };
}

/** A private key: a bigint for Curve41417, and 32 bytes or a `CryptoKey` for the other types. */
export type PrivateKey = bigint | Uint8Array | WebCryptoKey;

/** A key pair of any type. */
export interface OwnKey {
  publicKey: Uint8Array;
  privateKey: PrivateKey;
}
