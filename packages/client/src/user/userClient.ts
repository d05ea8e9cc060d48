import { loadModule } from "keyroot/internal/engine";
import { about, withValidKey } from "../shared/answers.ts";
import {
  challenge,
  keyChange,
  registeredKey,
  removedKey,
  userAccount,
  userKey,
  userRecord,
} from "../shared/answerChecks.ts";
import { OperationClient } from "../shared/operationClient.ts";
import type { KeyChange, UserAccount, UserKey, UserRecord } from "../shared/operations.ts";
import {
  type CallOptions,
  checkClientOptions,
  checkKeyID,
  checkRefreshToken,
  type ClientOptions,
} from "../shared/options.ts";
import { sessionOf } from "../shared/serviceSession.ts";
import { bytesToBase64 } from "keyroot/internal/bytes";
import type { OwnKey } from "keyroot/internal/identity";
import { ANY_KEY, keyIDOf, type KeyType, parseUserID, type UserID } from "keyroot/internal/formats";
import { checkFunction, checkObject, checkText, isObject } from "keyroot/internal/input";
import { TransportError } from "../errors.ts";
import {
  type CheckedPossession,
  checkPossession,
  type ExternalKey,
  POSSESSION,
  type PossessionOptions,
} from "./possessionOptions.ts";

/** The options of `UserClient`. */
export interface UserClientOptions extends ClientOptions, PossessionOptions {
  /** The refresh token of a user, which the partner creates (docs/specification.md, "User refresh token"). */
  refreshToken: string;
}

/** A verifier of keys, such as the result of `createVerifier` of `keyroot`. */
interface KeyVerifier<Verified> {
  verify: (
    userID: UserID,
    options: {
      expectedPublicKey: string | typeof ANY_KEY;
      account?: string | undefined;
      signal?: AbortSignal | undefined;
    },
  ) => Promise<Verified>;
}

/**
 * The client for a user's app. It registers the user's public key, returns the key's state, and returns the verified
 * keys of other users.
 *
 * The client exchanges its refresh token for access tokens when necessary. It repeats a request after a network error,
 * a timeout, or the HTTP status 429, 502, 503 or 504, which is safe because every operation is idempotent.
 *
 * Every operation can throw these errors:
 * - ServiceError with the service's code, if the service rejects the request
 * - TransportError UNREACHABLE, TIMEOUT, REDIRECT_REFUSED, ANSWER_TOO_LARGE or SERVICE_ANSWER_INVALID, if the client
 *   receives no valid response
 * - TransportError ABORTED, if the signal aborts the call
 * - ArgumentError ARGUMENT_INVALID, if an argument or an option is invalid
 *
 * @example
 * const user = new UserClient({ serviceUrl: "https://keys.example", bizID, refreshToken, chainId, contract });
 * const { state } = await user.register({ publicKey, privateKey });
 * const { publicKey: contactsKey } = await user.publicKeyOf(contactID, verifier);
 */
export class UserClient {
  readonly #operations: OperationClient;
  readonly #possession: CheckedPossession;
  readonly #keyType: KeyType;

  /** @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID */
  constructor(options: UserClientOptions) {
    const checked = checkClientOptions(options, "refreshToken", ...POSSESSION);
    this.#keyType = checked.keyType;
    this.#possession = checkPossession(options, checked);
    const refreshToken = checkRefreshToken("refreshToken", options.refreshToken, "kru_");
    this.#operations = new OperationClient(sessionOf(checked, refreshToken, this.#possession.userID));
  }

  /**
   * Registers the user's public key and proves that the app has the private key. The private key itself is never sent.
   * Each user has only one key, so a different key is rejected with PUBLIC_KEY_REGISTERED. Repeating the call with the
   * same key has no effect.
   * @param key the key pair, or the public key and a function that responds to the service's challenge. The private key
   * may be a `CryptoKey` that cannot be exported.
   * @throws ArgumentError as `checkPublicKey`
   * @throws TransportError CHALLENGE_MISMATCH if the challenge names a different service, chain or contract than the
   * options
   */
  async register(key: OwnKey | ExternalKey, options: CallOptions = {}): Promise<UserRecord> {
    const { fields, answer } = await this.#answerChallenge(key, options);
    const body = { ...fields, ...answer };
    const check = about(
      { user_id: this.#possession.userID, public_key: fields.public_key },
      withValidKey(registeredKey, this.#keyType),
    );
    return this.#operations.call("/v1/authdUser/publicKey/register", body, check, options);
  }

  /**
   * Withdraws the user's own key while it is `pending`, so that the user can register a different one. This is
   * necessary, for example, if someone else registered the key. If the key has already been submitted to the chain, the
   * service rejects the request with PUBLIC_KEY_SUBMITTED. Repeating the call has no effect.
   * @param keyID the id of the registered key in base64: `key_id` of the record
   */
  async withdraw(keyID: string, options: CallOptions = {}): Promise<void> {
    const body = { key_id: checkKeyID(keyID) };
    const check = about({ key_id: keyID }, removedKey);
    await this.#operations.call("/v1/authdUser/publicKey/withdraw", body, check, options);
  }

  /**
   * Stores the text of the user's account (docs/accounts.md). Store it before you submit the account's first statement.
   * If the user's id is not the account id, the service rejects the text with ACCOUNT_MISMATCH. Repeating the call has
   * no effect.
   * @param account the `text` of `makeAccount` of `keyroot/account`
   */
  async storeAccount(account: string, options: CallOptions = {}): Promise<UserAccount> {
    const body = { account: checkText("The account argument", account) };
    return this.#operations.call("/v1/authdUser/account/store", body, userAccount, options);
  }

  /** Returns the user's own account, with all its statements and the file for contacts. */
  async account(options: CallOptions = {}): Promise<UserAccount> {
    return this.#operations.call("/v1/authdUser/account/get", {}, userAccount, options);
  }

  /**
   * Submits a signed statement, and proves that the app has the private key of the public key in it. A statement with
   * the number 0 registers the first key. A statement with a higher number changes the key after the hold period.
   * Repeating the call has no effect.
   * @param statement the result of `makeKeyStatement` of `keyroot/account`
   * @param key the key of the statement, as for `register`. Omit it for void statements and hashes of documents.
   * @throws the errors of `register`
   */
  async submitStatement(statement: string, key?: OwnKey | ExternalKey, options: CallOptions = {}): Promise<KeyChange> {
    checkText("The statement argument", statement);
    const answer = key && (await this.#answerChallenge(key, options)).answer;
    const body = { statement, ...answer };
    return this.#operations.call("/v1/authdUser/account/submit", body, keyChange, options);
  }

  /**
   * Submits a recovery key's objection to a pending change of the user's key. If the change was approved or is already
   * being published, the service rejects the request with CHANGE_SUBMITTED. Repeating the call has no effect.
   * @param objection the result of `makeObjection` of `keyroot/account`
   */
  async objectToChange(objection: string, options: CallOptions = {}): Promise<KeyChange> {
    const body = { objection: checkText("The objection argument", objection) };
    return this.#operations.call("/v1/authdUser/account/object", body, keyChange, options);
  }

  /** Returns the user's own record. */
  async record(options: CallOptions = {}): Promise<UserRecord> {
    return this.#operations.call("/v1/authdUser/record/get", {}, withValidKey(userRecord, this.#keyType), options);
  }

  /**
   * Returns the public key of another user of the same partner, verified against the chain. The service's key must
   * equal the published key, except in two cases:
   * - If neither the service nor the chain responds, the result is the verified key in the verifier's cache, if there
   *   is one.
   * - In a registry with accounts, the result is the newest key that the chain shows. It may be newer than the
   *   service's key.
   *
   * If the call throws an error, do not use the key.
   * @param userID 32 characters of zBase32
   * @param verifier the result of `createVerifier` of `keyroot`
   * @returns the result of `verifier.verify`
   * @throws ArgumentError USER_ID_INVALID
   * @throws the errors of `verifier.verify`, such as VerificationError KEY_MISMATCH
   */
  async publicKeyOf<Verified>(
    userID: UserID,
    verifier: KeyVerifier<Verified>,
    options: CallOptions = {},
  ): Promise<Verified> {
    checkFunction(
      "verifier.verify",
      checkObject("The verifier argument", verifier, "a result of createVerifier").verify,
    );
    const { signal } = options;
    let answer: UserKey;
    try {
      answer = await this.unverifiedPublicKeyOf(userID, options);
    } catch (error) {
      if (!(error instanceof TransportError) || error.advice !== "retry") throw error;
      const verified = await verifier.verify(userID, { expectedPublicKey: ANY_KEY, signal }).catch(() => undefined);
      if (isObject(verified) && verified["cached"] !== undefined) return verified;
      throw error;
    }
    const { public_key: expectedPublicKey, account_file: account } = answer;
    if (account === undefined) return verifier.verify(userID, { expectedPublicKey, signal });
    return verifier.verify(userID, { expectedPublicKey: ANY_KEY, account, signal });
  }

  /**
   * Returns the public key that the service reports for another user of the same partner. It is not proven. To get a
   * verified key, call `publicKeyOf`.
   * @param userID 32 characters of zBase32
   * @throws ArgumentError USER_ID_INVALID
   */
  async unverifiedPublicKeyOf(userID: UserID, options: CallOptions = {}): Promise<UserKey> {
    const user_id = parseUserID(userID);
    const check = about({ user_id }, withValidKey(userKey, this.#keyType));
    return this.#operations.call("/v1/authdUser/publicKey/get", { user_id }, check, options);
  }

  /** Answers the service's challenge for a key. The answer is undefined if the user has already registered the key. */
  async #answerChallenge(key: OwnKey | ExternalKey, options: CallOptions) {
    // The curve arithmetic is loaded on demand.
    const { answerChallenge, checkKey } = await loadModule(() => import("./answerChallenge.ts"));
    const publicKey = checkKey(key, this.#keyType);
    const fields = { public_key: bytesToBase64(publicKey), key_id: bytesToBase64(keyIDOf(publicKey, this.#keyType)) };
    const path = "/v1/authdUser/publicKey/challenge";
    const check = about({ user_id: this.#possession.userID }, challenge);
    const given = await this.#operations.call(path, fields, check, options);
    return { fields, answer: await answerChallenge(given, key, this.#possession) };
  }
}
