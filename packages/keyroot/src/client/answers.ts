import { TransportError } from "../errors.ts";
import { LOWERCASE_HASH } from "../ethereum/rpcValues.ts";
import { checkKeyRecord } from "../identity/keyRecord.ts";
import { REGIONS } from "../identity/region.ts";
import { USER_ID, type UserID } from "../identity/userID.ts";
import { ShapeChecker } from "../input/shapeChecker.ts";
import { MERKLE_ROOT } from "../merkle/hash.ts";
import type { AnswerOf, ConflictingKey } from "./operations.ts";

const ANSWER = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new TransportError("SERVICE_ANSWER_INVALID", message, details),
);

/**
 * Checks a value of the service's answer and returns it.
 * @param where the place of the value, for the message
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export type Check<T> = (where: string, value: unknown) => T;

/** An object with these fields. Unknown fields, which a newer service may have added, are left out. */
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

/** A list of at most `max` items. */
// @__NO_SIDE_EFFECTS__
export function list<T>(item: Check<T>, max: number): Check<T[]> {
  return (where, value) => ANSWER.list(where, value, max, item);
}

/** An object with any fields, which have values of one kind. */
// @__NO_SIDE_EFFECTS__
export function dictionary<T>(item: Check<T>): Check<Record<string, T>> {
  return (where, value) => {
    const entries = Object.entries(ANSWER.dictionary(where, value));
    return Object.fromEntries(entries.map(([name, each]) => [name, item(`${where}.${name}`, each)]));
  };
}

/** A string, which matches `pattern` if one is given. */
// @__NO_SIDE_EFFECTS__
export function text(pattern?: RegExp): Check<string> {
  return (where, value) => ANSWER.text(where, value, pattern);
}

/** A string that matches `pattern`. The error does not contain the value. */
// @__NO_SIDE_EFFECTS__
export function secret(pattern: RegExp): Check<string> {
  return (where, value) =>
    typeof value === "string" && pattern.test(value) ? value : ANSWER.text(where, undefined, pattern);
}

/** One of these values. */
// @__NO_SIDE_EFFECTS__
export function oneOf<Value extends string | number>(...values: readonly Value[]): Check<Value> {
  return (where, value) => ANSWER.oneOf(where, value, values);
}

/** A value, or null. */
// @__NO_SIDE_EFFECTS__
export function nullable<T>(check: Check<T>): Check<T | null> {
  return (where, value) => (value === null ? null : check(where, value));
}

/** A value, or a missing field. */
// @__NO_SIDE_EFFECTS__
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (where, value) => (value === undefined ? undefined : check(where, value));
}

/** A whole number: a time in ms since 1970, or an amount. */
export const count: Check<number> = (where, value) => ANSWER.count(where, value);
export const boolean: Check<boolean> = (where, value) => ANSWER.boolean(where, value);
/** A UUID in lowercase. */
export const uuid = text(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const cursor = text(/^[\w-]{1,1000}$/);
export const userID: Check<UserID> = text(USER_ID);
/** A Merkle root: 64 lowercase hex digits. */
export const merkleRoot = text(MERKLE_ROOT);
/** A transaction hash: 0x and 64 lowercase hex digits. */
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

/** The fields of a user's key. */
export const KEY_FIELDS = {
  public_key: text(),
  key_id: text(),
  possession: oneOf("proven", "unproven"),
  state: oneOf("pending", "submitted", "published"),
  hold_ends_at: optional(nullable(count)),
  root: optional(merkleRoot),
  transaction: optional(transactionHash),
};

/** The fields of a user's key, if there is one. */
export const KEY_OR_NONE_FIELDS = {
  ...KEY_FIELDS,
  public_key: optional(KEY_FIELDS.public_key),
  key_id: optional(KEY_FIELDS.key_id),
  possession: optional(KEY_FIELDS.possession),
  state: oneOf("unregistered", "pending", "submitted", "published"),
};

/** The service records 10 conflicting keys. */
export const conflictingKeys = list(
  object<ConflictingKey>({ public_key: text(), key_id: text(), at: count, withdrawn: boolean }),
  100,
);

/** The answer to a discarded key. */
export const discardedKey = object<AnswerOf<"/v1/authdBizSrv/publicKeys/discard">>({
  ...{ user_id: userID, key_id: text(), state: oneOf("unregistered") },
});

/** A user's key, or none. */
interface KeyOrNone {
  user_id: UserID;
  state: string;
  public_key?: string | undefined;
  key_id?: string | undefined;
}

/** An answer with a valid public key and its id, or with the state `unregistered` and no key. */
// @__NO_SIDE_EFFECTS__
export function withValidKey<T extends KeyOrNone>(check: Check<T>): Check<T> {
  return (where, value) => {
    const answer = check(where, value);
    const { user_id: userID, state, public_key: pubKey = "", key_id: keyID = "" } = answer;
    if (state === "unregistered" && pubKey + keyID === "") return answer;
    try {
      if (state === "unregistered") throw new Error("the user is unregistered.");
      checkKeyRecord({ userID, pubKey, keyID });
    } catch (cause) {
      const message = `The service's answer has an invalid public key: ${(cause as Error).message}`;
      throw new TransportError("SERVICE_ANSWER_INVALID", message, { cause });
    }
    return answer;
  };
}

/**
 * Checks that an answer is about the user, region, token or key of the request.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export function checkSubject(what: string, requested: string, answered: string): void {
  if (answered === requested) return;
  const message = `The service's answer is about the ${what} ${answered}, but the request was about ${requested}.`;
  throw new TransportError("SERVICE_ANSWER_INVALID", message, { expected: requested, actual: answered });
}
