import { count, text } from "../shared/answers.ts";
import type { Challenge } from "../shared/operations.ts";
import { checkChecksum } from "keyroot/internal/ethereum";
import { ArgumentError, TransportError } from "../errors.ts";
import { base64 } from "keyroot/internal/bytes";
import {
  checkKeyPair,
  checkNewPublicKey,
  checkPublicKey,
  curve41417,
  type KeyPair,
  type KeyType,
  NONCE_BYTES,
  type OwnKey,
  type PossessionStatement,
  provePossession,
  proveWithWebCrypto,
  serviceNameOf,
} from "keyroot/internal/identity";
import { checkFunction, checkObject, invalidArgument } from "keyroot/internal/input";
import type { CheckedPossession, ExternalKey, PossessionAnswer } from "./possessionOptions.ts";

// This file is loaded on demand, because only proofs of possession use the curve arithmetic, which has 8 kB.

/** The size of a MAC, and the smallest size of a signature, which is in DER, in bytes. */
const MAC_BYTES = 32;
const LEAST_SIGNATURE_BYTES = 8;

/**
 * Computes the response to the service's challenge. The service's answer must name the same service, chain and contract
 * as the app's options, even if the key is already registered.
 * @returns undefined if the user has already registered this key
 * @throws TransportError SERVICE_ANSWER_INVALID, CHALLENGE_MISMATCH
 * @throws ArgumentError ARGUMENT_INVALID
 * @throws the errors of `prove`
 */
export async function answerChallenge(
  challenge: Challenge,
  key: OwnKey | ExternalKey,
  expected: CheckedPossession,
): Promise<PossessionAnswer | undefined> {
  const { registry, keyType } = expected;
  if (registry) checkChecksum(registry.contract);
  const isRegistered = challenge.state !== "unregistered";
  // An older service names itself, the chain and the contract only in a challenge.
  if (isRegistered && challenge.service === undefined) return undefined;
  // A service without the field has keys of the default type.
  compare("keyType", keyType.name, challenge.key_type ?? "curve41417");
  const service = serviceNameOf(expected.serviceUrl);
  compare("service", service, challenge.service);
  compare("chainId", registry?.chainId ?? null, challenge.chain_id);
  compare("contract", registry?.contract.toLowerCase() ?? null, challenge.contract?.toLowerCase() ?? null);
  if (isRegistered) return undefined;
  const statement: PossessionStatement = {
    keyType: keyType.name,
    service,
    registry,
    userID: challenge.user_id,
    publicKey: key.publicKey,
    nonce: readBytes("answer.challenge", challenge.challenge, NONCE_BYTES),
    ephemeralKey:
      keyType.possession === "shared secret"
        ? readBytes("answer.ephemeral_key", challenge.ephemeral_key, keyType.length)
        : new Uint8Array(),
    expires: count("answer.expires", challenge.expires),
  };
  try {
    if (keyType.name === curve41417.name) checkNewPublicKey(statement.ephemeralKey);
    else if (keyType.possession === "shared secret") keyType.check(statement.ephemeralKey);
  } catch (cause) {
    const message = `The service's ephemeral key is invalid: ${(cause as Error).message}`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { cause });
  }
  const response = "prove" in key ? checkResponse(await key.prove(statement), keyType) : await prove(statement, key);
  return { challenge: base64.encode(statement.nonce), response: base64.encode(response) };
}

function prove(statement: PossessionStatement, key: OwnKey): Promise<Uint8Array> | Uint8Array {
  if (statement.keyType !== curve41417.name) return proveWithWebCrypto(statement, key.privateKey);
  checkKeyPair(key as KeyPair);
  return provePossession(statement, key.privateKey as bigint);
}

function checkResponse(response: Uint8Array, { possession, signatureBytes: most = MAC_BYTES }: KeyType): Uint8Array {
  const least = possession === "signature" ? LEAST_SIGNATURE_BYTES : MAC_BYTES;
  if (ArrayBuffer.isView(response) && response.length >= least && response.length <= most) return response;
  const what = possession === "signature" ? `a signature of at most ${most} bytes` : `${MAC_BYTES} bytes`;
  throw invalidArgument("The result of prove", what, response);
}

function readBytes(where: string, value: string | undefined, length: number): Uint8Array {
  const bytes = base64.decode(text()(where, value));
  if (bytes?.length === length) return bytes;
  throw new TransportError("SERVICE_ANSWER_INVALID", `${where} must be ${length} bytes in base64.`);
}

/**
 * Compares a field of the challenge with the app's option. If they differ, the option is wrong, or the service relays
 * the challenge of another service, to use the response there.
 */
function compare(field: string, own: string | number | null, stated: string | number | null | undefined): void {
  if (own === stated) return;
  const message = `The challenge has the ${field} ${String(stated)}, but the app's option is ${String(own)}. If the option is wrong, correct it. Otherwise, do not use this service.`;
  throw new TransportError("CHALLENGE_MISMATCH", message, { expected: own, actual: stated });
}

/**
 * Checks the argument of `register`: a public key, and either its private key or a function that proves possession.
 * @returns the public key
 * @throws ArgumentError ARGUMENT_INVALID, or an error of `checkPublicKey`, without the private key in its message
 */
export function checkKey(key: OwnKey | ExternalKey, keyType: KeyType): Uint8Array {
  checkObject("The key", key, "an object with publicKey, and privateKey or prove");
  checkPublicKey(key.publicKey, keyType);
  if ("prove" in key) checkFunction("The key's prove field", key.prove);
  else if (keyType.name === "curve41417" && typeof key.privateKey !== "bigint")
    throw new ArgumentError("ARGUMENT_INVALID", "The key must have a bigint privateKey or a function prove.");
  return key.publicKey;
}
