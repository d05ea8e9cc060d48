import { bytesToHex, randomBytes } from "keyroot/internal/bytes";
import { ArgumentError } from "../errors.ts";
import {
  checkKeyType,
  curve41417,
  type KeyType,
  isUserID,
  type UserID,
  userIDFromHex,
  userIDToHex,
} from "keyroot/internal/formats";
import {
  checkNames,
  checkFunction,
  checkInteger,
  checkSignal,
  checkText,
  describeValue,
  MAX_TIMEOUT_MS,
  optional,
} from "keyroot/internal/input";
import { parseUrl } from "keyroot/internal/engine";
import { checkUrl } from "keyroot/internal/transport";

/** The URL of the service, and the limits of each call. */
export interface ConnectionOptions {
  /** The service's base URL, which must be https, or http on this machine. */
  serviceUrl: string;
  /** Maximum time for one attempt in ms, from the request to the last byte of the response. Default: 10,000. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries after a failed attempt, from 0 to 100. Default: 4. */
  retries?: number | undefined;
  /** A function that replaces the global `fetch`. It must support `signal` and `redirect: "manual"`. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** The URL of the service, the partner, and the limits of each call. */
export interface ClientOptions extends ConnectionOptions {
  /** The partner's business identifier (docs/specification.md, "Business identifier"). */
  bizID: string;
  /** The type of the registry's keys: a value of `keyroot/key-types`. Default: `curve41417`. */
  keyType?: KeyType | undefined;
  /** Returns the current time in ms since 1970. Default: `Date.now`. */
  now?: (() => number) | undefined;
}

/** The options of every operation. */
export interface CallOptions {
  /** A signal that aborts the call. The call then throws TransportError ABORTED. */
  signal?: AbortSignal | undefined;
}

/** The options of every operation that creates a token or a secret. */
export interface CreateTokenOptions extends CallOptions {
  /**
   * The idempotency key, 32 to 128 visible ASCII characters. For 24 hours, the same request with the same key returns
   * the same token or secret. Default: a random key for each call, which is also used for its retries.
   */
  idempotencyKey?: string | undefined;
}

/** The checked values of `ConnectionOptions`, including defaults. */
export interface CheckedConnection extends Pick<ConnectionOptions, "serviceUrl" | "fetch"> {
  timeoutMs: number;
  retries: number;
}

export interface CheckedOptions extends CheckedConnection, Pick<ClientOptions, "bizID"> {
  keyType: KeyType;
  now: () => number;
}

/** The names of the options that every client has. */
export const CONNECTION: (keyof ConnectionOptions)[] = ["serviceUrl", "timeoutMs", "retries", "fetch"];

/**
 * Checks the options of a client, and adds the defaults.
 * @param names the names of additional options
 */
export function checkClientOptions<T extends ClientOptions>(
  options: T,
  ...names: (keyof T & string)[]
): CheckedOptions {
  const all = [...CONNECTION, "bizID", "keyType", "now", ...names];
  const expected = "an object with serviceUrl, bizID and a refresh token";
  const { bizID, keyType = curve41417, now = Date.now } = checkNames("The client's options", options, all, expected);
  return {
    ...checkConnection(options),
    bizID: checkBizID("The bizID option", bizID),
    keyType: checkKeyType(keyType),
    now: checkFunction("The now option", now),
  };
}

/** Checks the connection options of a client, and adds the defaults. @throws ArgumentError ARGUMENT_INVALID */
export function checkConnection(options: ConnectionOptions): CheckedConnection {
  const { serviceUrl, timeoutMs = 10_000, retries = 4, fetch } = options;
  return {
    serviceUrl: checkBaseUrl(serviceUrl),
    timeoutMs: checkInteger("The timeoutMs option", timeoutMs, 1, MAX_TIMEOUT_MS),
    retries: checkInteger("The retries option", retries, 0, 100),
    fetch: optional(checkFunction, "The fetch option", fetch),
  };
}

/** Checks a partner's id. @throws ArgumentError ARGUMENT_INVALID */
export function checkBizID(what: string, bizID: unknown): string {
  return checkText(what, bizID, "the partner's business identifier, without spaces", /^[\x21-\x7e]{1,200}$/);
}

/** Parses a user id of 32 characters of zBase32 or 40 hex digits. @throws ArgumentError USER_ID_INVALID */
export function toUserID(text: string): UserID {
  if (typeof text === "string" && /^[0-9a-f]{40}$/i.test(text)) return userIDFromHex(text.toLowerCase());
  if (isUserID(text)) return text;
  const message = `A user id must be 32 lowercase zBase32 characters or 40 hex digits, but is ${describeValue(text)}.`;
  throw new ArgumentError("USER_ID_INVALID", message);
}

/** Makes the request body for an operation on a user. @throws ArgumentError USER_ID_INVALID */
export function userOf(userID: string) {
  const user_id = toUserID(userID);
  return { subject: { user_id }, body: { user_id_hex: userIDToHex(user_id) } };
}

/** Checks the id of a key, which responses and events contain in base64. @throws ArgumentError ARGUMENT_INVALID */
export function checkKeyID(keyID: string): string {
  return checkText("The keyID argument", keyID, "a key id in base64, such as the key_id in a response or event");
}

/** Makes the request body for an operation on a user's key. @throws ArgumentError USER_ID_INVALID, ARGUMENT_INVALID */
export function keyOf(userID: string, keyID: string) {
  const { subject, body } = userOf(userID);
  const key_id = checkKeyID(keyID);
  return { subject: { ...subject, key_id }, body: { ...body, key_id } };
}

/**
 * Checks and returns an operation's options.
 * @param names the names of all options except `signal`
 */
export function checkCallOptions<T extends CallOptions>(options: T, ...names: (keyof T & string)[]): T {
  checkNames("The operation's options", options, ["signal", ...names]);
  optional(checkSignal, "The signal option", options.signal);
  return options;
}

/**
 * Checks the options of an operation that creates a token or a secret, and returns them. If the caller passes no
 * idempotency key, a random one is added.
 * @param names the names of all options except `signal` and `idempotencyKey`
 */
export function checkCreateOptions<T extends CreateTokenOptions>(options: T, ...names: (keyof T & string)[]) {
  const { idempotencyKey: key = bytesToHex(randomBytes(16)), ...others } = checkCallOptions(
    options,
    "idempotencyKey",
    ...names,
  );
  if (typeof key === "string" && /^[\x21-\x7e]{32,128}$/.test(key)) return { ...others, idempotencyKey: key };
  const message = `The idempotency key must be 32 to 128 visible ASCII characters, but is ${describeValue(key)}.`;
  throw new ArgumentError("IDEMPOTENCY_KEY_INVALID", message);
}

/**
 * Checks a refresh token and returns it. Error messages never contain the token.
 * @param prefix the first characters of every token of this kind
 */
export function checkRefreshToken(option: string, token: unknown, prefix: "krs_" | "kru_"): string {
  if (typeof token === "string" && token.startsWith(prefix) && /^[\x21-\x7e]{5,500}$/.test(token)) return token;
  const owner = prefix === "krs_" ? "a server's" : "a user's";
  const message = `The ${option} option must be ${owner} refresh token, which begins with ${prefix}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/**
 * Checks the service's base URL and returns it without trailing slashes. Unencrypted http is accepted only on this
 * machine, because the client sends tokens to this URL.
 */
function checkBaseUrl(serviceUrl: unknown): string {
  const { href } = parseUrl(checkUrl("serviceUrl", serviceUrl, "The client sends tokens to this URL."));
  if (/[?#]./.test(href)) {
    throw new ArgumentError("ARGUMENT_INVALID", "The serviceUrl option must be a URL without query and fragment.");
  }
  return href.replace(/\/+$/, "");
}
