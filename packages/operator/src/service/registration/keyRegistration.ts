import { randomBytes, timingSafeEqual } from "node:crypto";
import { base64ToBytes, bytesToBase64, sha256Hex } from "keyroot/bytes";
import { ServiceError } from "keyroot/errors";
import { checkKeyRecord, type KeyRecord, NONCE_BYTES, type PossessionStatement, type UserID } from "keyroot/identity";
import type { Author } from "../store/changes.ts";
import type { ChallengeStore } from "../store/challenges.ts";
import type { Databases } from "../store/database.ts";
import type { KeyObjections } from "../store/keyObjections.ts";
import { MinuteLimit, type Quota } from "../store/minuteLimit.ts";
import type { PublicKeyStore, RegisteredKey } from "../store/publicKeys.ts";
import type { User } from "../store/users.ts";
import { CurveWorkers } from "./curveWorkers.ts";

/** How long a challenge can be answered. */
const CHALLENGE_MS = 5 * 60 * 1000;
/** Curve arithmetic of one user per minute and replica. A registration needs it once. */
const PER_MINUTE = 10;

/** Whether registration requires proof that the user holds the private key. */
export type PossessionPolicy = "required" | "optional";

/** Where the service publishes keys: a response is valid for this registry only. */
export type RegistryID = NonNullable<PossessionStatement["registry"]>;

/** A challenge, as it is sent to the user. */
export type Challenge = Pick<PossessionStatement, "service" | "registry" | "nonce" | "ephemeralKey" | "expires">;

/** A user's response to a challenge, both in base64. */
export interface ChallengeResponse {
  nonce: string;
  response: string;
}

export interface KeyRegistrationOptions {
  databases: Databases;
  publicKeys: PublicKeyStore;
  challenges: ChallengeStore;
  objections: KeyObjections;
  policy: PossessionPolicy;
  /** Undefined if the service publishes no keys. */
  registry: RegistryID | undefined;
  /** How long a key waits before it is published, in ms. */
  holdMs: number;
  /** Returns milliseconds since 1970. */
  now: () => number;
}

/**
 * Registers users' public keys. The database is read first, so repeating a registration costs no curve arithmetic; the rest
 * is done in other threads, within a quota per user and in turns between partners.
 */
export class KeyRegistration implements AsyncDisposable {
  readonly #options: KeyRegistrationOptions;
  readonly #workers = new CurveWorkers();
  readonly #attempts = new MinuteLimit(PER_MINUTE);

  constructor(options: KeyRegistrationOptions) {
    this.#options = options;
  }

  /**
   * Rejects a user without attempts left, before a query is sent. Each challenge is an attempt.
   * @throws ServiceError RATE_LIMITED
   */
  requireAttempt(userID: UserID): void {
    enforceAttempts(this.#attempts.exceeded(userID));
  }

  /**
   * Makes a challenge for a user who wants to register this key.
   * @param service the URL by which apps know this service
   * @returns the registered key if it is this one: it needs no challenge
   * @throws ServiceError PUBLIC_KEY_REGISTERED, RATE_LIMITED; ArgumentError as `checkNewPublicKey`, KEY_ID_MISMATCH
   */
  async challenge(user: User, record: KeyRecord, service: string, author: Author): Promise<Challenge | RegisteredKey> {
    const publicKey = checkKeyRecord(record);
    const registered = await this.#find(user, record, author);
    if (registered !== undefined) return registered;
    enforceAttempts(this.#attempts.count(user.userID));
    const { registry, now, challenges } = this.#options;
    const { userID, region, bizID } = user;
    const nonce = new Uint8Array(randomBytes(NONCE_BYTES));
    const challenge = { service, registry, nonce, expires: now() + CHALLENGE_MS };
    const { ephemeralKey, response } = await this.#workers.run(bizID, {
      statement: { ...challenge, userID, publicKey },
    });
    await challenges.add(region, {
      userID,
      nonce: bytesToBase64(nonce),
      pubKey: record.pubKey,
      // The database does not reveal the response, and no copy of the ephemeral private key exists.
      responseHash: sha256Hex(response),
      expires: challenge.expires,
    });
    return { ...challenge, ephemeralKey };
  }

  /**
   * Registers a user's only key. Repeating the call has no effect.
   * @param answer the response to a challenge for this key; undefined from clients that send none
   * @throws ServiceError PUBLIC_KEY_REGISTERED, POSSESSION_REQUIRED, POSSESSION_REFUSED, RATE_LIMITED; ArgumentError as
   * `checkNewPublicKey`, KEY_ID_MISMATCH
   */
  async register(
    user: User,
    record: KeyRecord,
    answer: ChallengeResponse | undefined,
    author: Author,
  ): Promise<RegisteredKey> {
    const publicKey = checkKeyRecord(record);
    const registered = await this.#find(user, record, author);
    if (registered !== undefined) return registered;
    if (answer === undefined) {
      if (this.#options.policy === "required") throw possessionRequired();
      enforceAttempts(this.#attempts.count(user.userID));
      await this.#workers.run(user.bizID, { publicKey });
    }
    await this.#store(user, record, answer, author);
    // Also if the response was refused: a concurrent request with the same response may have registered the key.
    const stored = await this.#find(user, record, author);
    if (stored === undefined) throw possessionRefused();
    return stored;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workers[Symbol.asyncDispose]();
  }

  /** @throws ServiceError PUBLIC_KEY_REGISTERED if the user has a different key; this is recorded */
  async #find(user: User, record: KeyRecord, author: Author): Promise<RegisteredKey | undefined> {
    const { publicKeys, objections, now } = this.#options;
    const registered = await publicKeys.get(user.region, user.userID);
    if (registered === undefined || registered.pubKey === record.pubKey) return registered;
    await objections.offer(user, record, now(), author);
    // The offer may have changed when the registered key is published.
    const { state, publishableAt } = (await publicKeys.get(user.region, user.userID)) ?? registered;
    const message =
      state === "pending"
        ? "The user has registered a different public key. It can be withdrawn while it is pending, if it is not the user's."
        : "The user has registered a different public key, which cannot be changed.";
    const key = state === "pending" ? { state, publishableAt } : { state };
    throw new ServiceError(409, "PUBLIC_KEY_REGISTERED", message, { key });
  }

  /** Takes the challenge and adds the key in one transaction: a repeated request finds either both done or neither. */
  #store(user: User, record: KeyRecord, answer: ChallengeResponse | undefined, author: Author): Promise<void> {
    const { databases, publicKeys, challenges, holdMs, now } = this.#options;
    return databases.regions[user.region].transaction(async (transaction) => {
      if (answer !== undefined) {
        const challenge = await challenges.take(transaction, user.userID, answer.nonce);
        const isValid =
          challenge?.pubKey === record.pubKey &&
          challenge.expires > now() &&
          isResponse(answer.response, challenge.responseHash);
        // The transaction is committed nevertheless: a challenge can be answered once.
        if (!isValid) return;
      }
      const possession = answer === undefined ? "unproven" : "proven";
      const registered = now();
      const publishableAt = registered + holdMs;
      await publicKeys.add(transaction, user, record, { registered, publishableAt, possession }, author);
    });
  }
}

/** @throws ServiceError RATE_LIMITED */
function enforceAttempts(quota: Quota | undefined): void {
  if (quota?.exceeded !== true) return;
  const { resetSeconds: retryAfter } = quota;
  const message = `More than ${PER_MINUTE} attempts to register a key in a minute: wait ${retryAfter} s.`;
  throw new ServiceError(429, "RATE_LIMITED", message, { retryAfter });
}

/** Compares hashes, in constant time. */
function isResponse(response: string, expectedHash: string): boolean {
  return timingSafeEqual(Buffer.from(sha256Hex(base64ToBytes(response))), Buffer.from(expectedHash));
}

function possessionRequired(): ServiceError {
  const message =
    "Prove that you hold the private key: request /v1/authdUser/publicKey/challenge, and send challenge and response.";
  return new ServiceError(400, "POSSESSION_REQUIRED", message);
}

function possessionRefused(): ServiceError {
  const message =
    "The response does not prove that you hold the private key, or the challenge is unknown, expired or used: request a new challenge.";
  return new ServiceError(400, "POSSESSION_REFUSED", message);
}
