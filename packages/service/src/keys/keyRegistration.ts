import { checkKeyRecord, type KeyRecord, type UserID } from "keyroot/internal/identity";
import type { Author } from "../api/base/author.ts";
import type { ChallengeStore } from "./challengeStore.ts";
import { type Databases, readClock } from "../api/database/database.ts";
import { type ConflictingKeys, differentKeyRegistered } from "./conflictingKeys.ts";
import { MinuteLimit, refuseExceeded } from "../api/limits/minuteLimit.ts";
import type { PublicKeyStore, RegisteredKey } from "./publicKeys.ts";
import type { User } from "../users/newUser.ts";
import { CurveWorkers } from "./curveWorkers.ts";
import {
  type Challenge,
  type ChallengeResponse,
  PossessionCheck,
  possessionRefused,
  possessionRequired,
  type RegistryID,
} from "./possessionCheck.ts";

/** Maximum attempts per user and minute at one replica. A registration needs one attempt, and so does an offer of another key. */
const ATTEMPTS_PER_MINUTE = 10;
const ATTEMPTS = "attempts to register a key";

export interface KeyRegistrationOptions {
  databases: Databases;
  publicKeys: PublicKeyStore;
  challenges: ChallengeStore;
  conflictingKeys: ConflictingKeys;
  /** The registry in which the service publishes keys. Undefined if the service does not publish keys. */
  registry: RegistryID | undefined;
  holdPeriodMs: number;
  now: () => number;
}

/**
 * Registers users' public keys. Separate threads do the curve arithmetic, and partners take turns. A repeated
 * registration needs no curve arithmetic, because the database is queried first. Each user has a limited number of
 * attempts per minute.
 */
export class KeyRegistration implements AsyncDisposable {
  readonly #options: KeyRegistrationOptions;
  readonly #workers = new CurveWorkers();
  readonly #possession: PossessionCheck;
  readonly #attempts = new MinuteLimit(ATTEMPTS_PER_MINUTE);

  constructor(options: KeyRegistrationOptions) {
    this.#options = options;
    this.#possession = new PossessionCheck({ ...options, workers: this.#workers });
  }

  /**
   * Rejects a user who has no attempts left, before any query. Each challenge counts as an attempt.
   * @throws ServiceError RATE_LIMITED
   */
  requireAttempt(userID: UserID): void {
    refuseExceeded(this.#attempts.exceeded(userID), ATTEMPTS);
  }

  /**
   * Makes a challenge for the registration of a key.
   * @param service the service's URL in the app
   * @returns a challenge, or the registered key if the user has already registered the same key
   * @throws ServiceError PUBLIC_KEY_REGISTERED, RATE_LIMITED; ArgumentError KEY_ID_MISMATCH, and the codes of
   * `checkNewPublicKey`
   */
  async challenge(user: User, record: KeyRecord, service: string, author: Author): Promise<Challenge | RegisteredKey> {
    checkKeyRecord(record);
    const registered = await this.#find(user, record, author);
    if (registered !== undefined) return registered;
    this.#countAttempt(user);
    return this.#possession.challenge(user, record, service);
  }

  /**
   * Registers a user's only key. Repeating the call has no effect.
   * @param answer the response to a challenge for this key. Undefined if the client sent no response
   * @throws ServiceError PUBLIC_KEY_REGISTERED, POSSESSION_REQUIRED, POSSESSION_REFUSED, RATE_LIMITED; ArgumentError
   * KEY_ID_MISMATCH and the codes of `checkNewPublicKey`
   */
  async register(
    user: User,
    record: KeyRecord,
    answer: ChallengeResponse | undefined,
    author: Author,
  ): Promise<RegisteredKey> {
    checkKeyRecord(record);
    const registered = await this.#find(user, record, author);
    if (registered !== undefined) return registered;
    if (answer === undefined) throw possessionRequired();
    await this.#store(user, record, answer, author);
    // Read the key even after a rejected response, because a concurrent request may have registered the key.
    const stored = await this.#find(user, record, author);
    if (stored === undefined) throw possessionRefused();
    return stored;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workers[Symbol.asyncDispose]();
  }

  /** @throws ServiceError RATE_LIMITED */
  #countAttempt({ userID }: User): void {
    refuseExceeded(this.#attempts.count(userID), ATTEMPTS);
  }

  /**
   * @throws ServiceError PUBLIC_KEY_REGISTERED if the user has a different key, after recording the conflict;
   * RATE_LIMITED
   */
  async #find(user: User, record: KeyRecord, author: Author): Promise<RegisteredKey | undefined> {
    const { publicKeys, conflictingKeys, now } = this.#options;
    const registered = await publicKeys.get(user.region, user.userID);
    if (registered === undefined || registered.pubKey === record.pubKey) return registered;
    this.#countAttempt(user);
    await conflictingKeys.offer(user, record, now(), author);
    // The registered key may have been published after the first read, so read the key again.
    throw differentKeyRegistered((await publicKeys.get(user.region, user.userID)) ?? registered);
  }

  /** Deletes the challenge and adds the key in one transaction. */
  #store(user: User, record: KeyRecord, answer: ChallengeResponse, author: Author): Promise<void> {
    const { databases, publicKeys, holdPeriodMs } = this.#options;
    return databases.regions[user.region].transaction(async (transaction) => {
      if (!(await this.#possession.isProven(transaction, record, answer))) return;
      const possession = "proven";
      // Read the database's clock, because the publisher uses the same clock.
      const registered = await readClock(transaction);
      const holdEndsAt = registered + holdPeriodMs;
      await publicKeys.add(transaction, user, record, { registered, holdEndsAt, possession }, author);
    });
  }
}
