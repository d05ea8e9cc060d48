import { TransportError } from "../errors.ts";
import { checkKeyRecord, type KeyType, USER_ID, type UserID } from "keyroot/internal/formats";
import { ShapeChecker } from "keyroot/internal/input";

const ANSWER = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new TransportError("SERVICE_ANSWER_INVALID", message, details),
);

/**
 * Checks a value in the service's response and returns it.
 * @param where the location of the value, for the error message
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export type Check<T> = (where: string, value: unknown) => T;

/** Checks an object with these fields. Other fields are ignored, because newer services may add some. */
export function object<T extends object>(fields: { readonly [Name in keyof T]-?: Check<T[Name]> }): Check<T> {
  const checks = Object.entries<Check<unknown>>(fields);
  const names = Object.keys(fields);
  return (where, value) => {
    const values = ANSWER.fields(where, value, names);
    const checked = checks.map(([name, check]) => [name, check(`${where}.${name}`, values[name])] as const);
    return Object.fromEntries(checked.filter(([, value]) => value !== undefined)) as T;
  };
}

/** Checks an object with the fields of both checks. */
export function both<A extends object, B extends object>(a: Check<A>, b: Check<B>): Check<A & B> {
  return (where, value) => ({ ...a(where, value), ...b(where, value) });
}

/**
 * Maximum number of items in a list in a response. Pages have at most 1,000 items, but the list of an account's
 * statements may be longer.
 */
const MAX_ITEMS = 10_000;

/** Checks a list of at most `max` items. */
export function list<T>(item: Check<T>, max = MAX_ITEMS): Check<T[]> {
  return (where, value) => ANSWER.list(where, value, max, item);
}

/** Checks an object with any field names and with values of the same type. */
export function dictionary<T>(item: Check<T>): Check<Record<string, T>> {
  return (where, value) => {
    const entries = Object.entries(ANSWER.dictionary(where, value));
    return Object.fromEntries(entries.map(([name, each]) => [name, item(`${where}.${name}`, each)]));
  };
}

/** Checks a string. The pattern is optional. */
export function text(pattern?: RegExp): Check<string> {
  return (where, value) => ANSWER.text(where, value, pattern);
}

/** Checks a secret string. The error never contains it. */
export function secret(pattern: RegExp): Check<string> {
  return (where, value) =>
    typeof value === "string" && pattern.test(value) ? value : ANSWER.text(where, undefined, pattern);
}

/** Checks that a value is one of the allowed values. */
export function oneOf<Value extends string | number>(...values: readonly Value[]): Check<Value> {
  return (where, value) => ANSWER.oneOf(where, value, values);
}

/** Accepts null or a value that passes the check. */
export function nullable<T>(check: Check<T>): Check<T | null> {
  return (where, value) => (value === null ? null : check(where, value));
}

/** Accepts a missing field or a value that passes the check. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (where, value) => (value === undefined ? undefined : check(where, value));
}

/** Checks a whole number, such as an amount or a time in ms since 1970. */
export const count: Check<number> = (where, value) => ANSWER.count(where, value);
export const boolean: Check<boolean> = (where, value) => ANSWER.boolean(where, value);
/** Checks a UUID in lower case. */
export const uuid = text(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const userID: Check<UserID> = text(USER_ID);
/** Checks a value in an event or in the audit log: a string, a finite number, a boolean or null. */
export const scalar: Check<string | number | boolean | null> = (where, value) =>
  typeof value === "number" || typeof value === "boolean" ? value : nullable(text())(where, value);

/** Checks a server token: a prefix and 256 random bits. */
export const serverTokenText = secret(/^krs_[\x21-\x7e]{1,495}$/);
/** Checks a user refresh token: a prefix and 256 random bits. */
export const userToken = secret(/^kru_[\x21-\x7e]{1,495}$/);
export const webhookSecret = secret(/^whsec_[A-Za-z0-9+/]{1,100}={0,2}$/);
/** Checks the URL of an invitation, which contains a one-time secret. */
export const invitationUrl = secret(/^https?:\/\/[\x21-\x7e]{1,2000}$/);

/** The fields of a response that may contain a user's key. */
interface KeyOrNone {
  user_id: UserID;
  state: string;
  public_key?: string | undefined;
  key_id?: string | undefined;
}

/**
 * Checks the public key in a response and its id. If the user's state is `unregistered`, the response must not contain
 * a key.
 * @param keyType the type of the registry's keys
 */
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

/** The response fields that show what a response is about, each with its name for error messages. */
const SUBJECTS = {
  ...{ user_id: "user", region: "region", public_key: "public key", key_id: "public key" },
  ...{ token_id: "token", endpoint_id: "endpoint", biz_id: "partner" },
};
type Subject = { [Field in keyof typeof SUBJECTS]?: string | undefined };

/** Adds a check that the response is about what was requested. */
export function about<T extends Subject>(requested: Subject, check: Check<T>): Check<T> {
  return (where, value) => {
    const answer = check(where, value);
    for (const field of Object.keys(SUBJECTS) as (keyof Subject)[]) {
      const [expected, actual] = [requested[field], String(answer[field])];
      if (expected === undefined || actual === expected) continue;
      const message = `The service's response is for the ${SUBJECTS[field]} ${actual}, but the request was for ${expected}.`;
      throw new TransportError("SERVICE_ANSWER_INVALID", message, { expected, actual });
    }
    return answer;
  };
}
