import { TransportError } from "../errors.ts";
import { LOWERCASE_HASH } from "../ethereum/hash.ts";
import { checkKeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { MERKLE_ROOT } from "../merkle/hash.ts";
import { ANSWER } from "./answers.ts";

/** The state of a public key on its way to the chain. */
export type KeyState = (typeof STATES)[number];
const STATES = ["unregistered", "pending", "submitted", "published"] as const;

/** Whether the app that registered a key proved that it holds the private key. */
export type Possession = (typeof POSSESSIONS)[number];
const POSSESSIONS = ["proven", "unproven"] as const;

/** A registered public key, as the service states it. */
export interface RegisteredKey {
  /** 105 bytes in base64. */
  pubKey: string;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  keyID: string;
  /** Whether the service received proof that the user holds the private key. */
  possession: Possession;
}

/** How far a key is on its way to the chain, as the service states it. */
export interface KeyProgress {
  state: KeyState;
  /**
   * Of a pending key: the earliest time of publication, in ms since 1970. Null while the partner must decide, because another
   * key was offered for the user.
   */
  publishableAt?: number | null;
  /** The Merkle root of the batch that contains the key: 64 hex digits. Present when the key is published. */
  root?: string;
  /** The transaction that added the root: 0x and 64 hex digits. Present when the key is published. */
  transaction?: string;
}

/** Another key than the user's, about which the partner has not decided. */
export interface OtherKey {
  /** 105 bytes in base64, as they were sent. */
  pubKey: string;
  keyID: string;
  /** Milliseconds since 1970. */
  offered: number;
  /** Whether the key was registered and withdrawn. Otherwise it was refused. */
  withdrawn: boolean;
}

/** The most other keys in an answer. The service records 10. */
const MAX_OTHER_KEYS = 100;

/** A valid public key with its own id. @throws TransportError SERVICE_ANSWER_INVALID */
export function readKey(userID: UserID, answer: unknown): RegisteredKey {
  const { possession = "unproven", ...fields } = ANSWER.fields("The answer", answer, ["pubKey", "keyID", "possession"]);
  const key = { pubKey: ANSWER.text("pubKey", fields.pubKey), keyID: ANSWER.text("keyID", fields.keyID) };
  try {
    checkKeyRecord({ userID, ...key });
  } catch (cause) {
    const message = `The service's answer has an invalid public key: ${(cause as Error).message}`;
    throw new TransportError("SERVICE_ANSWER_INVALID", message, { cause });
  }
  return { ...key, possession: ANSWER.oneOf("possession", possession, POSSESSIONS) };
}

/** @throws TransportError SERVICE_ANSWER_INVALID */
export function readProgress(answer: unknown): KeyProgress {
  const fields = ANSWER.fields("The answer", answer, ["state", "publishableAt", "root", "transaction"]);
  const { publishableAt, root, transaction } = fields;
  return {
    state: ANSWER.oneOf("state", fields.state, STATES),
    ...(publishableAt !== undefined && {
      publishableAt: publishableAt === null ? null : ANSWER.count("publishableAt", publishableAt),
    }),
    ...(root !== undefined && { root: ANSWER.text("root", root, MERKLE_ROOT) }),
    ...(transaction !== undefined && { transaction: ANSWER.text("transaction", transaction, LOWERCASE_HASH) }),
  };
}

/** @throws TransportError SERVICE_ANSWER_INVALID */
export function readOtherKeys(answer: unknown): OtherKey[] {
  const { otherKeys = [] } = ANSWER.fields("The answer", answer, ["otherKeys"]);
  return ANSWER.list("otherKeys", otherKeys, MAX_OTHER_KEYS, (where, item) => {
    const fields = ANSWER.fields(where, item, ["pubKey", "keyID", "offered", "withdrawn"]);
    return {
      pubKey: ANSWER.text(`${where}.pubKey`, fields.pubKey),
      keyID: ANSWER.text(`${where}.keyID`, fields.keyID),
      offered: ANSWER.count(`${where}.offered`, fields.offered),
      withdrawn: ANSWER.boolean(`${where}.withdrawn`, fields.withdrawn),
    };
  });
}
