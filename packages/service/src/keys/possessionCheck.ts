import { randomBytes } from "node:crypto";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { type KeyRecord, NONCE_BYTES, type PossessionStatement } from "keyroot/internal/identity";
import { ServiceError } from "../api/base/errors.ts";
import type { Databases } from "../api/database/database.ts";
import type { User } from "../users/newUser.ts";
import { addChallenge, findChallenge, hasResponse } from "./challenges.ts";
import type { CurveWorkers } from "./curveWorkers.ts";

/** Lifetime of a challenge in ms. */
const CHALLENGE_MS = 5 * 60 * 1000;

/** The registry for which a response to a challenge is valid. */
export type RegistryID = NonNullable<PossessionStatement["registry"]>;

/** A challenge in the form that the user receives. */
export type Challenge = Pick<PossessionStatement, "service" | "registry" | "nonce" | "ephemeralKey" | "expires">;

/** A user's response to a challenge. Both fields are in base64. */
export interface ChallengeResponse {
  nonce: string;
  response: string;
}

interface PossessionOptions {
  databases: Databases;
  /** The registry in which the service publishes keys. Undefined if the service does not publish keys. */
  registry: RegistryID | undefined;
  now: () => number;
}

/**
 * Creates and stores a challenge for a key. docs/formats.md specifies the proof of possession.
 * @param service the service's URL in the app
 * @throws ArgumentError with the codes of `checkNewPublicKey`
 */
export async function makeChallenge(
  { databases, registry, now }: PossessionOptions,
  workers: CurveWorkers,
  { userID, region, bizID }: User,
  record: KeyRecord,
  service: string,
): Promise<Challenge> {
  const publicKey = base64ToBytes(record.pubKey);
  const nonce = new Uint8Array(randomBytes(NONCE_BYTES));
  const challenge = { service, registry, nonce, expires: now() + CHALLENGE_MS };
  const { ephemeralKey, response } = await workers.run(bizID, { ...challenge, userID, publicKey });
  await addChallenge(databases.regions[region], {
    userID,
    nonce: bytesToBase64(nonce),
    pubKey: record.pubKey,
    // The ephemeral private key is not stored anywhere.
    response,
    expires: challenge.expires,
  });
  return { ...challenge, ephemeralKey };
}

/**
 * Checks the response to a challenge. The check cannot be part of a transaction, because signatures are verified in a
 * separate thread. Call `takeChallenge` in the transaction that adds the key.
 * @param service the service's URL in the app
 */
export async function isProven(
  { databases, registry, now }: PossessionOptions,
  workers: CurveWorkers,
  { region, userID, bizID }: User,
  { pubKey }: KeyRecord,
  { nonce, response }: ChallengeResponse,
  service: string,
): Promise<boolean> {
  const challenge = await findChallenge(databases.regions[region], userID, nonce);
  if (challenge?.pubKey !== pubKey || challenge.expires <= now()) return false;
  const { responseHash, expires } = challenge;
  if (responseHash !== null) return hasResponse(responseHash, response);
  const statement = {
    ...{ service, registry, userID, publicKey: base64ToBytes(pubKey) },
    ...{ nonce: base64ToBytes(nonce), ephemeralKey: new Uint8Array(), expires },
  };
  return workers.verify(bizID, statement, base64ToBytes(response));
}

export function possessionRequired(): ServiceError {
  const message =
    "The request does not prove that you hold the private key. Request /v1/authdUser/publicKey/challenge, and send the challenge and your response.";
  return new ServiceError(400, "POSSESSION_REQUIRED", message);
}

export function possessionRefused(): ServiceError {
  const message =
    "The response does not prove that you hold the private key, or the challenge is unknown, expired or used. Request a new challenge.";
  return new ServiceError(400, "POSSESSION_REFUSED", message);
}

export function partnerMustRegister(): ServiceError {
  const message =
    "This registry publishes hashes of documents, which cannot prove possession. The partner's server registers them with /v1/authdBizSrv/publicKeys/register.";
  return new ServiceError(403, "PARTNER_REQUIRED", message);
}

/** The error for a registration without a statement, in a service whose users have accounts. */
export function statementRequired(): ServiceError {
  const message =
    "The users of this service have accounts, so each key needs a signed statement. Send it to /v1/authdUser/account/submit.";
  return new ServiceError(409, "STATEMENT_REQUIRED", message);
}
