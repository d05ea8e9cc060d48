import { randomBytes } from "node:crypto";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { type KeyRecord, NONCE_BYTES, type PossessionStatement } from "keyroot/internal/identity";
import { ServiceError } from "../api/base/errors.ts";
import type { Database } from "../api/database/database.ts";
import type { User } from "../users/newUser.ts";
import { type ChallengeStore, hasResponse, type StoredChallenge } from "./challengeStore.ts";
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
  challenges: ChallengeStore;
  workers: CurveWorkers;
  /** The registry in which the service publishes keys. Undefined if the service does not publish keys. */
  registry: RegistryID | undefined;
  now: () => number;
}

/** Checks that a user possesses the private key of a public key. docs/formats.md specifies the proof. */
export class PossessionCheck {
  readonly #options: PossessionOptions;

  constructor(options: PossessionOptions) {
    this.#options = options;
  }

  /**
   * Creates and stores a challenge for a key.
   * @param service the service's URL in the app
   * @throws ArgumentError with the codes of `checkNewPublicKey`
   */
  async challenge({ userID, region, bizID }: User, record: KeyRecord, service: string): Promise<Challenge> {
    const { registry, now, challenges, workers } = this.#options;
    const publicKey = base64ToBytes(record.pubKey);
    const nonce = new Uint8Array(randomBytes(NONCE_BYTES));
    const challenge = { service, registry, nonce, expires: now() + CHALLENGE_MS };
    const { ephemeralKey, response } = await workers.run(bizID, { ...challenge, userID, publicKey });
    await challenges.add(region, {
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
   * Checks the response to a challenge. Signatures are verified in a separate thread, so this cannot be part of a
   * transaction. Call `use` in the transaction that adds the key, to delete the challenge.
   * @param service the service's URL in the app
   */
  async isProven(user: User, { pubKey }: KeyRecord, answer: ChallengeResponse, service: string): Promise<boolean> {
    const { challenges, now } = this.#options;
    const challenge = await challenges.find(user.region, user.userID, answer.nonce);
    if (challenge?.pubKey !== pubKey || challenge.expires <= now()) return false;
    const { responseHash } = challenge;
    return responseHash === null
      ? this.#isSigned(user, challenge, answer, service)
      : hasResponse(responseHash, answer.response);
  }

  /**
   * Deletes a challenge, because it works only once.
   * @param transaction a transaction in the user's region. Commit it even if the response was wrong
   * @returns whether the challenge existed
   */
  use(transaction: Database, { userID }: User, { nonce }: ChallengeResponse): Promise<boolean> {
    return this.#options.challenges.take(transaction, userID, nonce);
  }

  #isSigned({ bizID, userID }: User, challenge: StoredChallenge, { response }: ChallengeResponse, service: string) {
    const { registry, workers } = this.#options;
    const statement = {
      ...{ service, registry, userID, publicKey: base64ToBytes(challenge.pubKey) },
      ...{ nonce: base64ToBytes(challenge.nonce), ephemeralKey: new Uint8Array(), expires: challenge.expires },
    };
    return workers.verify(bizID, statement, base64ToBytes(response));
  }
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
