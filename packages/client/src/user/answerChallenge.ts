import { checkSubject, count, text } from "../shared/answers.ts";
import type { AnswerOf } from "../shared/operations.ts";
import { checkChecksum } from "keyroot/internal/ethereum";
import { TransportError } from "../errors.ts";
import { base64 } from "keyroot/internal/bytes";
import { checkNewPublicKey, type KeyPair } from "keyroot/internal/identity";
import {
  checkKeyPair,
  NONCE_BYTES,
  type PossessionStatement,
  provePossession,
  RESPONSE_BYTES,
  serviceNameOf,
} from "keyroot/internal/identity";
import { invalidArgument } from "keyroot/internal/input";
import type { CheckedPossession, ExternalKey, PossessionAnswer } from "./possessionOptions.ts";

// This file is loaded on demand. The curve arithmetic has 8 kB, and other operations do not use this arithmetic.

/**
 * Computes the response to the service's challenge. The challenge must name the service, chain and contract in the
 * app's options.
 * @returns undefined if the user has already registered this key
 * @throws TransportError SERVICE_ANSWER_INVALID, CHALLENGE_MISMATCH; ArgumentError ARGUMENT_INVALID; and the errors of
 * `prove`
 */
export async function answerChallenge(
  challenge: AnswerOf<"/v1/authdUser/publicKey/challenge">,
  key: KeyPair | ExternalKey,
  expected: CheckedPossession,
): Promise<PossessionAnswer | undefined> {
  const { registry } = expected;
  if (registry) checkChecksum(registry.contract);
  const { user_id: userID } = challenge;
  if (expected.userID !== undefined) checkSubject("user", expected.userID, userID);
  if (challenge.state !== "unregistered") return undefined;
  const statement: PossessionStatement = {
    service: serviceNameOf(expected.serviceUrl),
    registry,
    userID,
    publicKey: key.publicKey,
    nonce: readBytes("answer.challenge", challenge.challenge, NONCE_BYTES),
    ephemeralKey: readBytes("answer.ephemeral_key", challenge.ephemeral_key),
    expires: count("answer.expires", challenge.expires),
  };
  compare("service", statement.service, challenge.service);
  compare("chainId", statement.registry?.chainId ?? null, challenge.chain_id);
  compare("contract", statement.registry?.contract.toLowerCase() ?? null, challenge.contract?.toLowerCase() ?? null);
  try {
    checkNewPublicKey(statement.ephemeralKey);
  } catch (cause) {
    const message = `The service's ephemeral key is invalid: ${(cause as Error).message}`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { cause });
  }
  let response: Uint8Array;
  if ("prove" in key) {
    response = await key.prove(statement);
    if (!ArrayBuffer.isView(response) || response.length !== RESPONSE_BYTES)
      throw invalidArgument("The result of prove", `${RESPONSE_BYTES} bytes`, response);
  } else {
    checkKeyPair(key);
    response = provePossession(statement, key.privateKey);
  }
  return { challenge: base64.encode(statement.nonce), response: base64.encode(response) };
}

function readBytes(where: string, value: string | undefined, length?: number): Uint8Array {
  const bytes = base64.decode(text()(where, value));
  if (bytes && (length === undefined || bytes.length === length)) return bytes;
  throw new TransportError("SERVICE_ANSWER_INVALID", `${where} must be ${length ?? 105} bytes in base64.`);
}

/**
 * Compares a field of the challenge with the app's option. The values differ if the option is wrong, or if the service
 * relays another service's challenge.
 */
function compare(field: string, own: string | number | null, stated: string | number | null | undefined): void {
  if (own === stated) return;
  const message = `The challenge has the ${field} ${String(stated)}, but the app's option is ${String(own)}. If the option is wrong, correct it. Otherwise, do not use this service.`;
  throw new TransportError("CHALLENGE_MISMATCH", message, { expected: own, actual: stated });
}
