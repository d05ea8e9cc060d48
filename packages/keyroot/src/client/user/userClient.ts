import { ANSWER, checkSubject, readShadowUser, readUserID, type ShadowUser } from "../answers.ts";
import {
  type CallOptions,
  checkCallOptions,
  checkClientOptions,
  checkRefreshToken,
  type ClientOptions,
} from "../options.ts";
import { ServiceSession } from "../serviceSession.ts";
import { bytesToBase64 } from "../../bytes/base64.ts";
import type { KeyPair } from "../../identity/newPublicKey.ts";
import { keyIDOf } from "../../identity/publicKey.ts";
import { parseUserID, type UserID } from "../../identity/userID.ts";
import { checkText } from "../../input/options.ts";
import { type KeyProgress, type OtherKey, readKey, readOtherKeys, readProgress, type RegisteredKey } from "../keys.ts";
import {
  checkKey,
  type CheckedPossession,
  checkPossession,
  type ExternalKey,
  POSSESSION,
  type PossessionOptions,
} from "./possession.ts";

/** Which service to call, as which user. */
export interface UserClientOptions extends ClientOptions, PossessionOptions {
  /** The user's refresh token (specification, "User refresh token"), which the partner created. */
  refreshToken: string;
}

/** A user's own record. It has a key unless its state is `unregistered`. */
export interface UserRecord extends ShadowUser, Partial<RegisteredKey>, KeyProgress {
  /** Other keys that were offered for this user, or withdrawn. If they are not the user's own, someone has the user's token. */
  otherKeys: OtherKey[];
}

/** A user's public key, as the service states it: verify it with `createVerifier` before you use it. */
export interface UserPublicKey extends RegisteredKey, KeyProgress {
  user_id: UserID;
}

const PATH = "/v1/authdUser";

/**
 * The client for a user's app: registers the user's public key, returns its state, and returns keys of other users.
 *
 * It exchanges its refresh token for access tokens when necessary. Every operation is idempotent, so the client repeats
 * it after a network error, a timeout, and the statuses 429, 502, 503 and 504.
 *
 * Every operation throws ServiceError with the service's code if the service refuses; TransportError UNREACHABLE,
 * TIMEOUT, REDIRECT_REFUSED, ANSWER_TOO_LARGE or SERVICE_ANSWER_INVALID if the service does not answer or its answer is
 * malformed; TransportError ABORTED; ArgumentError ARGUMENT_INVALID.
 *
 * @example
 * const user = new UserClient({ baseUrl: "https://keys.example", bizId, refreshToken, chainId, contract });
 * const { state } = await user.register({ publicKey, privateKey });
 * const { pubKey } = await user.publicKeyOf(contactID);
 * const { publicKey: verified } = await verifier.verify(contactID, { expectedPublicKey: pubKey });
 */
export class UserClient {
  readonly #session: ServiceSession;
  readonly #possession: CheckedPossession;

  /** @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID */
  constructor(options: UserClientOptions) {
    const checked = checkClientOptions(options, "refreshToken", ...POSSESSION);
    this.#possession = checkPossession(options, checked);
    this.#session = new ServiceSession(checked, checkRefreshToken("refreshToken", options.refreshToken, "kru_"));
  }

  /**
   * Registers the user's public key, and proves that the app holds its private key. The private key is not sent. A user has
   * one key: repeating the call with it has no effect, and the service refuses another one with PUBLIC_KEY_REGISTERED.
   * @param key the key pair, or the public key and a function that answers the service's challenge
   * @throws ArgumentError as `checkPublicKey`; TransportError CHALLENGE_MISMATCH if the service is not the one of the
   * options, or publishes elsewhere
   */
  async register(key: KeyPair | ExternalKey, options: CallOptions = {}): Promise<UserRecord> {
    const publicKey = checkKey(key);
    const { pubKey, keyID } = { pubKey: bytesToBase64(publicKey), keyID: bytesToBase64(keyIDOf(publicKey)) };
    const challenge = await this.#call("publicKey/challenge", { pubKey, keyID }, options);
    const { answerChallenge } = await import("./answerChallenge.ts");
    const answer = await answerChallenge(challenge, key, this.#possession);
    const record = readUserRecord(await this.#call("publicKey/register", { pubKey, keyID, ...answer }, options));
    if (this.#possession.userID !== undefined) checkSubject("user", this.#possession.userID, record.user_id);
    checkSubject("public key", pubKey, record.pubKey ?? "none");
    return record;
  }

  /**
   * Withdraws the user's own key while it is `pending`, for example because the user did not register it. The user can then
   * register another one. Repeating the call has no effect. The service refuses with PUBLIC_KEY_SUBMITTED once the key is
   * being published.
   * @param keyID the id of the registered key, from the record
   */
  async withdraw(keyID: string, options: CallOptions = {}): Promise<void> {
    const body = { keyID: checkText("The argument keyID", keyID) };
    const answer = await this.#call("publicKey/withdraw", body, options);
    checkSubject("public key", keyID, ANSWER.text("keyID", ANSWER.fields("The answer", answer, ["keyID"]).keyID));
  }

  /** Returns the user's own record. */
  async record(options: CallOptions = {}): Promise<UserRecord> {
    return readUserRecord(await this.#call("record/get", {}, options));
  }

  /**
   * Returns the public key of another user of the same partner, as the service states it. Pass it to `verify` of `createVerifier`
   * as `expectedPublicKey` before you use it.
   * @param userID 32 characters of zBase32
   * @throws ArgumentError USER_ID_INVALID
   */
  async publicKeyOf(userID: UserID, options: CallOptions = {}): Promise<UserPublicKey> {
    const user_id = parseUserID(userID);
    const answer = await this.#call("publicKey/get", { user_id }, options);
    checkSubject("user", user_id, readUserID("user_id", ANSWER.fields("The answer", answer, ["user_id"]).user_id));
    return { user_id, ...readProgress(answer), ...readKey(user_id, answer) };
  }

  #call(operation: string, body: object, options: CallOptions): Promise<unknown> {
    const { signal } = checkCallOptions(options);
    return this.#session.call(`${PATH}/${operation}`, body, { signal });
  }
}

function readUserRecord(answer: unknown): UserRecord {
  const user = readShadowUser("record", answer);
  const progress = readProgress(answer);
  const otherKeys = readOtherKeys(answer);
  if (progress.state === "unregistered") return { ...user, state: progress.state, otherKeys };
  return { ...user, ...progress, ...readKey(user.user_id, answer), otherKeys };
}
