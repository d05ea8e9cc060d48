import { TransportError } from "../errors.ts";
import { LOWERCASE_HASH } from "keyroot/internal/formats";
import { checkKeyRecord, type KeyType } from "keyroot/internal/formats";
import { REGIONS } from "keyroot/internal/formats";
import { USER_ID, type UserID } from "keyroot/internal/formats";
import { ShapeChecker } from "keyroot/internal/input";
import { MERKLE_ROOT } from "keyroot/internal/formats";
import type { AnswerOf, ConflictingKey, RefreshToken, ServerToken, UserKey } from "./operations.ts";

const ANSWER = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new TransportError("SERVICE_ANSWER_INVALID", message, details),
);

/**
 * Checks a value in the service's response, and returns the value.
 * @param where the location of the value, for the error message
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export type Check<T> = (where: string, value: unknown) => T;

/** Checks an object with these fields. Ignores other fields, because newer services may add fields. */
// @__NO_SIDE_EFFECTS__
export function object<T extends object>(fields: { readonly [Name in keyof T]-?: Check<T[Name]> }): Check<T> {
  const checks = Object.entries<Check<unknown>>(fields);
  const names = Object.keys(fields);
  return (where, value) => {
    const values = ANSWER.fields(where, value, names);
    const checked = checks.map(([name, check]) => [name, check(`${where}.${name}`, values[name])] as const);
    return Object.fromEntries(checked.filter(([, value]) => value !== undefined)) as T;
  };
}

/** Checks a list of at most `max` items. */
// @__NO_SIDE_EFFECTS__
export function list<T>(item: Check<T>, max: number): Check<T[]> {
  return (where, value) => ANSWER.list(where, value, max, item);
}

/** Checks an object with any field names and with values of the same type. */
// @__NO_SIDE_EFFECTS__
export function dictionary<T>(item: Check<T>): Check<Record<string, T>> {
  return (where, value) => {
    const entries = Object.entries(ANSWER.dictionary(where, value));
    return Object.fromEntries(entries.map(([name, each]) => [name, item(`${where}.${name}`, each)]));
  };
}

/** Checks a string. The pattern is optional. */
// @__NO_SIDE_EFFECTS__
export function text(pattern?: RegExp): Check<string> {
  return (where, value) => ANSWER.text(where, value, pattern);
}

/** Checks a secret string. The error does not contain the value. */
// @__NO_SIDE_EFFECTS__
export function secret(pattern: RegExp): Check<string> {
  return (where, value) =>
    typeof value === "string" && pattern.test(value) ? value : ANSWER.text(where, undefined, pattern);
}

/** Checks that a value is one of the allowed values. */
// @__NO_SIDE_EFFECTS__
export function oneOf<Value extends string | number>(...values: readonly Value[]): Check<Value> {
  return (where, value) => ANSWER.oneOf(where, value, values);
}

/** Accepts null or a value that passes the check. */
// @__NO_SIDE_EFFECTS__
export function nullable<T>(check: Check<T>): Check<T | null> {
  return (where, value) => (value === null ? null : check(where, value));
}

/** Accepts a missing field or a value that passes the check. */
// @__NO_SIDE_EFFECTS__
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (where, value) => (value === undefined ? undefined : check(where, value));
}

/** Checks a whole number, such as an amount or a time in ms since 1970. */
export const count: Check<number> = (where, value) => ANSWER.count(where, value);
export const boolean: Check<boolean> = (where, value) => ANSWER.boolean(where, value);
/** Checks a UUID in lower case. */
export const uuid = text(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const cursor = text(/^[\w-]{1,1000}$/);
export const userID: Check<UserID> = text(USER_ID);
/** Checks a Merkle root: 64 lowercase hex digits. */
export const merkleRoot = text(MERKLE_ROOT);
/** Checks a transaction hash: 0x and 64 lowercase hex digits. */
export const transactionHash = text(LOWERCASE_HASH);

/** The fields of a shadow user (docs/specification.md, "Shadow user"). */
export const USER_FIELDS = {
  user_id: userID,
  bucket: text(),
  region: oneOf(...REGIONS),
  stage: text(),
  salt: text(/^[0-9a-f]{32}$/),
  created: count,
};

/** The fields that describe a user's key. */
export const KEY_FIELDS = {
  public_key: text(),
  key_id: text(),
  possession: oneOf("proven", "unproven"),
  state: oneOf("pending", "submitted", "published"),
  hold_ends_at: optional(nullable(count)),
  root: optional(merkleRoot),
  transaction: optional(transactionHash),
  number: optional(count),
  account_file: optional(text()),
};

/** The fields that describe a user's key. All fields except the state may be missing if the user has no key. */
export const KEY_OR_NONE_FIELDS = {
  ...KEY_FIELDS,
  public_key: optional(KEY_FIELDS.public_key),
  key_id: optional(KEY_FIELDS.key_id),
  possession: optional(KEY_FIELDS.possession),
  state: oneOf("unregistered", "pending", "submitted", "published"),
};

/** Checks a list of at most 100 conflicting keys. The service currently stores 10. */
export const conflictingKeys = list(
  object<ConflictingKey>({ public_key: text(), key_id: text(), at: count, withdrawn: boolean }),
  100,
);

/** Checks the response for a withdrawn or discarded key. */
export const discardedKey = object<AnswerOf<"/v1/authdBizSrv/publicKeys/discard">>({
  ...{ user_id: userID, key_id: text(), state: oneOf("unregistered") },
});

const TOKEN_FIELDS = { token_id: uuid, created: count, revoked: nullable(count), last_used: nullable(count) };
export const refreshToken = object<RefreshToken>({ ...TOKEN_FIELDS, context: text() });
/** The fields that describe a server token. These fields do not include the token itself. */
export const SERVER_TOKEN_FIELDS = { ...TOKEN_FIELDS, name: nullable(text()) };
/** Checks the description of a server token. */
export const serverToken = object<ServerToken>(SERVER_TOKEN_FIELDS);

/** The fields of a response that may contain a user's key. */
interface KeyOrNone {
  user_id: UserID;
  state: string;
  public_key?: string | undefined;
  key_id?: string | undefined;
}

/**
 * Checks the public key and the key's id in a response. A response with the state `unregistered` must not contain a
 * key.
 * @param keyType the type of the registry's keys
 */
// @__NO_SIDE_EFFECTS__
export function withValidKey<T extends KeyOrNone>(check: Check<T>, keyType: KeyType): Check<T> {
  return (where, value) => {
    const answer = check(where, value);
    const { user_id: userID, state, public_key: pubKey = "", key_id: keyID = "" } = answer;
    if (state === "unregistered" && pubKey + keyID === "") return answer;
    try {
      if (state === "unregistered") throw new Error("the user is unregistered.");
      checkKeyRecord({ userID, pubKey, keyID }, keyType);
    } catch (cause) {
      const message = `The service's response has an invalid public key: ${(cause as Error).message}`;
      throw new TransportError("SERVICE_ANSWER_INVALID", message, { cause });
    }
    return answer;
  };
}

/** Checks a user's key in a response. */
export const userPublicKey = (keyType: KeyType) =>
  withValidKey(object<UserKey>({ user_id: userID, ...KEY_FIELDS }), keyType);

/**
 * The response fields that identify a user, region, key, token or endpoint. The values are the names for error
 * messages.
 */
const SUBJECTS = {
  ...{ user_id: "user", region: "region", public_key: "public key", key_id: "public key" },
  ...{ token_id: "token", endpoint_id: "endpoint" },
};
type Subject = { [Field in keyof typeof SUBJECTS]?: string | undefined };

/** Adds a check that the response belongs to the requested user, region, key, token or endpoint. */
export function about<T extends Subject>(requested: Subject, check: Check<T>): Check<T> {
  return (where, value) => {
    const answer = check(where, value);
    for (const field of Object.keys(SUBJECTS) as (keyof Subject)[])
      if (requested[field] !== undefined) checkSubject(SUBJECTS[field], requested[field], String(answer[field]));
    return answer;
  };
}

/**
 * Checks that a response belongs to the requested user, region, key, token or endpoint.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export function checkSubject(what: string, requested: string, answered: string): void {
  if (answered === requested) return;
  const message = `The service's response is for the ${what} ${answered}, but the request was for ${requested}.`;
  throw new TransportError("SERVICE_ANSWER_INVALID", message, { expected: requested, actual: answered });
}
