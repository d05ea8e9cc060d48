import { ANSWER, checkSubject, readShadowUser, readUserID, type ShadowUser } from "../answers.ts";
import { type CallOptions, checkCallOptions, checkOptions, checkRefreshToken, type ClientOptions } from "../options.ts";
import { ServiceSession } from "../serviceSession.ts";
import { TransportError } from "../../errors.ts";
import { bytesToBase64 } from "../../bytes/base64.ts";
import { LOWERCASE_HASH } from "../../ethereum/hash.ts";
import { checkKeyRecord } from "../../identity/keyRecord.ts";
import { checkPublicKey, keyIDOf } from "../../identity/publicKey.ts";
import { parseUserID, type UserID } from "../../identity/userID.ts";
import { MERKLE_ROOT } from "../../merkle/hash.ts";

/** Which service to call, as which user. */
export interface UserClientOptions extends ClientOptions {
  /** The user's refresh token (specification, "User refresh token"), which the partner created. */
  refreshToken: string;
}

/** The state of a public key on its way to the chain. */
export type KeyState = (typeof STATES)[number];
const STATES = ["unregistered", "pending", "submitted", "published"] as const;

/** A registered public key, as the service states it. */
export interface RegisteredKey {
  /** 105 bytes in base64. */
  pubKey: string;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  keyID: string;
}

/** Where a key is on the chain, as the service states it. Both fields are present when the key is published. */
interface RootReference {
  /** The Merkle root of the batch that contains the key: 64 hex digits. */
  root?: string;
  /** The transaction that added the root: 0x and 64 hex digits. */
  transaction?: string;
}

/** A user's own record. It has a key unless its state is `unregistered`. */
export interface UserRecord extends ShadowUser, Partial<RegisteredKey>, RootReference {
  state: KeyState;
}

/** A user's public key, as the service states it: verify it with `createVerifier` before you use it. */
export interface UserPublicKey extends RegisteredKey, RootReference {
  user_id: UserID;
  state: KeyState;
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
 * const user = new UserClient({ baseUrl: "https://keys.example", bizId, refreshToken });
 * const { state } = await user.register(publicKey);
 * const { pubKey } = await user.publicKeyOf(contactID);
 * const { publicKey: verified } = await verifier.verify(contactID, { expectedPublicKey: pubKey });
 */
export class UserClient {
  readonly #session: ServiceSession;

  /** @throws ArgumentError ARGUMENT_INVALID */
  constructor(options: UserClientOptions) {
    const checked = checkOptions(options, "refreshToken");
    this.#session = new ServiceSession(checked, checkRefreshToken("refreshToken", options.refreshToken, "kru_"));
  }

  /**
   * Registers the user's public key. A user has one key: repeating the call with it has no effect, and the service
   * refuses another one with PUBLIC_KEY_REGISTERED.
   * @param publicKey 105 bytes
   * @throws ArgumentError as `checkPublicKey`
   */
  async register(publicKey: Uint8Array, options: CallOptions = {}): Promise<UserRecord> {
    checkPublicKey(publicKey);
    const key: RegisteredKey = { pubKey: bytesToBase64(publicKey), keyID: bytesToBase64(keyIDOf(publicKey)) };
    const record = readUserRecord(await this.#call("publicKey/register", key, options));
    checkSubject("public key", key.pubKey, record.pubKey ?? "none");
    return record;
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
    const fields = ANSWER.fields("The answer", answer, ["user_id", "state"]);
    checkSubject("user", user_id, readUserID("user_id", fields.user_id));
    const state = ANSWER.oneOf("state", fields.state, STATES);
    return { user_id, state, ...readKey(user_id, answer), ...readRootReference(answer) };
  }

  #call(operation: string, body: object, options: CallOptions): Promise<unknown> {
    const { signal } = checkCallOptions(options);
    return this.#session.call(`${PATH}/${operation}`, body, { signal });
  }
}

function readUserRecord(answer: unknown): UserRecord {
  const user = readShadowUser("record", answer);
  const fields = ANSWER.fields("record", answer, ["state"]);
  const state = ANSWER.oneOf("state", fields.state, STATES);
  if (state === "unregistered") return { ...user, state };
  return { ...user, state, ...readKey(user.user_id, answer), ...readRootReference(answer) };
}

/** A valid public key with its own id. */
function readKey(userID: UserID, answer: unknown): RegisteredKey {
  const fields = ANSWER.fields("The answer", answer, ["pubKey", "keyID"]);
  const key = { pubKey: ANSWER.text("pubKey", fields.pubKey), keyID: ANSWER.text("keyID", fields.keyID) };
  try {
    checkKeyRecord({ userID, ...key });
  } catch (cause) {
    const message = `The service's answer has an invalid public key: ${(cause as Error).message}`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { cause });
  }
  return key;
}

function readRootReference(answer: unknown): RootReference {
  const { root, transaction } = ANSWER.fields("The answer", answer, ["root", "transaction"]);
  return {
    ...(root !== undefined && { root: ANSWER.text("root", root, MERKLE_ROOT) }),
    ...(transaction !== undefined && { transaction: ANSWER.text("transaction", transaction, LOWERCASE_HASH) }),
  };
}
