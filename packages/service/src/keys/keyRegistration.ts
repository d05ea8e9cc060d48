import { checkKeyRecord, type KeyRecord, type KeyType, type UserID } from "keyroot/internal/identity";
import type { Author } from "../api/base/author.ts";
import { type Database, type Databases, readClock } from "../api/database/database.ts";
import { differentKeyRegistered, offerKey } from "./conflictingKeys.ts";
import { MinuteLimit, refuseExceeded } from "../api/limits/minuteLimit.ts";
import { takeChallenge } from "./challenges.ts";
import type { PublicKeyStore, RegisteredKey, Registration } from "./publicKeys.ts";
import type { User } from "../users/newUser.ts";
import { CurveWorkers } from "./curveWorkers.ts";
import {
  type Challenge,
  type ChallengeResponse,
  partnerMustRegister,
  isProven,
  makeChallenge,
  possessionRefused,
  possessionRequired,
  type RegistryID,
  statementRequired,
} from "./possessionCheck.ts";

/**
 * Maximum number of attempts per user and minute at one replica. A registration counts as an attempt, and so does
 * offering another key.
 */
const ATTEMPTS_PER_MINUTE = 10;
const ATTEMPTS = "attempts to register a key";

/** Ends the challenge in the transaction that adds the key. @returns undefined if the key is not authorized */
type Authorization = (transaction: Database) => Promise<Registration["possession"] | undefined>;

export interface KeyRegistrationOptions {
  databases: Databases;
  publicKeys: PublicKeyStore;
  /** The registry in which the service publishes keys. Undefined if the service does not publish keys. */
  registry: RegistryID | undefined;
  keyType: KeyType;
  /** Whether users have accounts, and change their keys by statements. */
  accounts: boolean;
  holdPeriodMs: number;
  now: () => number;
}

/**
 * Registers users' public keys. Curve arithmetic runs in separate threads, in which partners take turns. Each user has
 * a limited number of attempts per minute. The database is queried first, so a repeated registration needs no
 * arithmetic.
 */
export class KeyRegistration implements AsyncDisposable {
  readonly #options: KeyRegistrationOptions;
  readonly #workers: CurveWorkers;
  readonly #attempts = new MinuteLimit(ATTEMPTS_PER_MINUTE);

  constructor(options: KeyRegistrationOptions) {
    this.#options = options;
    this.#workers = new CurveWorkers(options.keyType.name);
  }

  /**
   * Rejects a user who has no attempts left, before any query. Each challenge uses one attempt.
   * @throws ServiceError RATE_LIMITED
   */
  requireAttempt(userID: UserID): void {
    refuseExceeded(this.#attempts.exceeded(userID), ATTEMPTS);
  }

  /**
   * Creates a challenge for the registration of a key.
   * @param service the service's URL in the app
   * @returns a challenge, or the key's state if the user has already registered this key
   * @throws ServiceError PUBLIC_KEY_REGISTERED, RATE_LIMITED; ArgumentError KEY_ID_MISMATCH, and the codes of
   *   `checkNewPublicKey`
   */
  async challenge(
    user: User,
    record: KeyRecord,
    service: string,
    author: Author,
  ): Promise<Challenge | (Pick<RegisteredKey, "state"> & Pick<Challenge, "service" | "registry">)> {
    const { keyType, registry } = this.#options;
    checkKeyRecord(record, keyType);
    if (keyType.possession === "partner") throw partnerMustRegister();
    const registered = this.#options.accounts ? undefined : await this.#find(user, record, author);
    if (registered !== undefined) return { state: registered.state, service, registry };
    this.#countAttempt(user);
    return makeChallenge(this.#options, this.#workers, user, record, service);
  }

  /**
   * Registers a user's only key. Repeating the call has no effect.
   * @param answer the response to a challenge for this key, or undefined if the client sent none
   * @param service the service's URL in the app
   * @throws ServiceError PUBLIC_KEY_REGISTERED, POSSESSION_REQUIRED, POSSESSION_REFUSED, PARTNER_REQUIRED,
   *   RATE_LIMITED; ArgumentError KEY_ID_MISMATCH and the codes of `checkNewPublicKey`
   */
  async register(
    user: User,
    record: KeyRecord,
    answer: ChallengeResponse | undefined,
    service: string,
    author: Author,
  ): Promise<RegisteredKey> {
    const { keyType, accounts } = this.#options;
    if (accounts) throw statementRequired();
    checkKeyRecord(record, keyType);
    if (keyType.possession === "partner") throw partnerMustRegister();
    const stored = await this.#register(user, record, author, () => this.prove(user, record, answer, service));
    if (stored === undefined) throw possessionRefused();
    return stored;
  }

  /**
   * Registers a user's key on the partner's authority. Only keys that cannot prove possession are accepted. Repeating
   * the call has no effect.
   * @throws ServiceError PUBLIC_KEY_REGISTERED, POSSESSION_REQUIRED, RATE_LIMITED; ArgumentError KEY_ID_MISMATCH and
   *   the codes of `checkPublicKey`
   */
  async registerForUser(user: User, record: KeyRecord, author: Author): Promise<RegisteredKey> {
    const { keyType, accounts } = this.#options;
    if (accounts) throw statementRequired();
    checkKeyRecord(record, keyType);
    if (keyType.possession !== "partner") throw possessionRequired();
    const stored = await this.#register(user, record, author, () => this.prove(user, record, undefined, ""));
    if (stored === undefined) throw new Error("The key was withdrawn while it was being registered.");
    return stored;
  }

  /**
   * Checks the proof of possession of a key. Hashes of documents need no proof.
   * @returns a function to call in the transaction that adds the key. It ends the challenge, and returns undefined if
   *   the response was wrong
   * @throws ServiceError POSSESSION_REQUIRED; ArgumentError with the codes of `checkPublicKey`
   */
  async prove(
    user: User,
    record: KeyRecord,
    answer: ChallengeResponse | undefined,
    service: string,
  ): Promise<Authorization> {
    checkKeyRecord(record, this.#options.keyType);
    if (this.#options.keyType.possession === "partner") return () => Promise.resolve("unproven");
    if (answer === undefined) throw possessionRequired();
    const isValid = await isProven(this.#options, this.#workers, user, record, answer, service);
    return async (transaction) => {
      const isUsed = await takeChallenge(transaction, user.userID, answer.nonce);
      return isUsed && isValid ? "proven" : undefined;
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workers[Symbol.asyncDispose]();
  }

  #countAttempt({ userID }: User): void {
    refuseExceeded(this.#attempts.count(userID), ATTEMPTS);
  }

  /**
   * @throws ServiceError PUBLIC_KEY_REGISTERED if the user has a different key, after recording the conflict;
   * RATE_LIMITED
   */
  async #find(user: User, record: KeyRecord, author: Author): Promise<RegisteredKey | undefined> {
    const { databases, publicKeys, now } = this.#options;
    const registered = await publicKeys.get(user.region, user.userID);
    if (registered === undefined || registered.pubKey === record.pubKey) return registered;
    this.#countAttempt(user);
    await offerKey(databases, user, record, now(), author);
    // The registered key may have been published after the first read, so read the key again.
    throw differentKeyRegistered((await publicKeys.get(user.region, user.userID)) ?? registered);
  }

  /** Adds the key in the same transaction that ends its challenge. @returns undefined if the key is not authorized */
  async #register(
    user: User,
    record: KeyRecord,
    author: Author,
    prove: () => Promise<Authorization>,
  ): Promise<RegisteredKey | undefined> {
    const registered = await this.#find(user, record, author);
    if (registered !== undefined) return registered;
    const { databases, publicKeys, holdPeriodMs } = this.#options;
    const authorize = await prove();
    await databases.regions[user.region].transaction(async (transaction) => {
      const possession = await authorize(transaction);
      if (possession === undefined) return;
      // Read the database's clock, because the publisher uses the same clock.
      const registered = await readClock(transaction);
      const holdEndsAt = registered + holdPeriodMs;
      await publicKeys.add(transaction, user, record, { registered, holdEndsAt, possession }, author);
    });
    // Read the key even after a rejected response, because a concurrent request may have registered the key.
    return this.#find(user, record, author);
  }
}
