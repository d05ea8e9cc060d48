import { ANSWER, insistOn, readShadowUser, readUserID, type ShadowUser } from "../answers.ts";
import { type CallOptions, checkOptions, checkRefreshToken, type ClientOptions } from "../options.ts";
import { ServiceSession } from "../serviceSession.ts";
import { TransportError } from "../../errors.ts";
import { bytesToBase64 } from "../../bytes/base64.ts";
import { checkKeyRecord } from "../../identity/keyRecord.ts";
import { checkPublicKey, keyIDOf } from "../../identity/publicKey.ts";
import { parseUserID, type UserID } from "../../identity/userID.ts";

/** Where the service is, and who asks. */
export interface UserClientOptions extends ClientOptions {
  /** The user's refresh token (specification, "User refresh token"), as the partner handed it out. */
  refreshToken: string;
}

/** How far a public key has come on its way to the chain. */
export type KeyState = (typeof STATES)[number];
const STATES = ["unregistered", "pending", "submitted", "published"] as const;

/** A registered public key, by the service's word. */
export interface RegisteredKey {
  /** 105 bytes in base64. */
  pubKey: string;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  keyID: string;
}

/** What the chain has of a key, by the service's word; both are there once the key is published. */
interface Publication {
  /** The Merkle root that holds the key: 64 hex digits. */
  root?: string;
  /** The transaction that added the root: 0x and 64 hex digits. */
  transaction?: string;
}

/** A user's own record, with a key unless it is `unregistered`. */
export interface UserRecord extends ShadowUser, Partial<RegisteredKey>, Publication {
  state: KeyState;
}

/** A user's public key, by the service's word: verify it with `verifyPublicKey` before it is used. */
export interface UserPublicKey extends RegisteredKey, Publication {
  user_id: UserID;
  state: KeyState;
}

const PATH = "/v1/authdUser";

/**
 * A user's app as the service knows it: registers the user's public key, and tells how far it has come.
 *
 * It exchanges its refresh token for access tokens by itself. Every operation may be sent again without harm, and is: after
 * a network error, a timeout, and the statuses 429, 502, 503 and 504.
 *
 * Each operation throws ServiceError with the service's code where it refuses; TransportError UNREACHABLE, TIMEOUT,
 * REDIRECT_REFUSED, ANSWER_TOO_LARGE, SERVICE_ANSWER_INVALID where it does not answer, or not in its own form, and ABORTED.
 */
export class UserClient {
  readonly #session: ServiceSession;

  /** @throws ArgumentError ARGUMENT_INVALID */
  constructor(options: UserClientOptions) {
    this.#session = new ServiceSession(
      checkOptions(options),
      checkRefreshToken("refreshToken", options.refreshToken, "kru_"),
    );
  }

  /**
   * Registers the user's public key. A user has one: the same again changes nothing, another one is refused with
   * PUBLIC_KEY_REGISTERED.
   * @param publicKey 105 bytes
   * @throws ArgumentError as `checkPublicKey`
   */
  async register(publicKey: Uint8Array, { signal }: CallOptions = {}): Promise<UserRecord> {
    checkPublicKey(publicKey);
    const key: RegisteredKey = { pubKey: bytesToBase64(publicKey), keyID: bytesToBase64(keyIDOf(publicKey)) };
    const record = readUserRecord(await this.#session.call(`${PATH}/publicKey/register`, key, { signal }));
    insistOn("public key", key.pubKey, record.pubKey ?? "none");
    return record;
  }

  /** The user's own record. */
  async record({ signal }: CallOptions = {}): Promise<UserRecord> {
    return readUserRecord(await this.#session.call(`${PATH}/record/get`, {}, { signal }));
  }

  /**
   * The public key of another user of the same partner. It is the service's word, no more: before it is used, hand it to
   * `verifyPublicKey` as `expectedPublicKey`.
   * @param userID 32 characters of zBase32
   * @throws ArgumentError USER_ID_INVALID
   */
  async publicKeyOf(userID: UserID, { signal }: CallOptions = {}): Promise<UserPublicKey> {
    const user_id = parseUserID(userID);
    const answer = await this.#session.call(`${PATH}/publicKey/get`, { user_id }, { signal });
    const fields = ANSWER.fields("The answer", answer, ["user_id", "state"]);
    insistOn("user", user_id, readUserID("user_id", fields.user_id));
    const state = ANSWER.oneOf("state", fields.state, STATES);
    return { user_id, state, ...readKey(user_id, answer), ...readPublication(answer) };
  }
}

function readUserRecord(answer: unknown): UserRecord {
  const user = readShadowUser("record", answer);
  const { state: stated } = ANSWER.fields("record", answer, ["state"]);
  const state = ANSWER.oneOf("state", stated, STATES);
  if (state === "unregistered") return { ...user, state };
  return { ...user, state, ...readKey(user.user_id, answer), ...readPublication(answer) };
}

/** A key that is one, with its own id. */
function readKey(userID: UserID, answer: unknown): RegisteredKey {
  const fields = ANSWER.fields("The answer", answer, ["pubKey", "keyID"]);
  const key = { pubKey: ANSWER.text("pubKey", fields.pubKey), keyID: ANSWER.text("keyID", fields.keyID) };
  try {
    checkKeyRecord({ userID, ...key });
  } catch (cause) {
    const message = `The service answers with a public key that is none: ${(cause as Error).message}`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { cause });
  }
  return key;
}

function readPublication(answer: unknown): Publication {
  const { root, transaction } = ANSWER.fields("The answer", answer, ["root", "transaction"]);
  return {
    ...(root !== undefined && { root: ANSWER.text("root", root, /^[0-9a-f]{64}$/) }),
    ...(transaction !== undefined && { transaction: ANSWER.text("transaction", transaction, /^0x[0-9a-f]{64}$/) }),
  };
}
