import { bytesToHex } from "../bytes/platform.ts";
import { randomBytes } from "../bytes/randomBytes.ts";
import { ArgumentError } from "../errors.ts";
import { parseUserID, type UserID, userIDFromHex, userIDToHex } from "../identity/userID.ts";
import { describeValue } from "../input/describeValue.ts";
import {
  checkNames,
  checkFunction,
  checkInteger,
  checkObject,
  checkSignal,
  checkText,
  MAX_TIMEOUT_MS,
  optional,
} from "../input/options.ts";
import { parseUrl } from "../engine/parseUrl.ts";
import { checkUrl } from "../transport/url.ts";

/** The service to call, and the limits of a call. */
export interface ConnectionOptions {
  /** The service's base URL: https, or http on this machine. */
  serviceUrl: string;
  /** The maximum time for one attempt in ms, from the request to the last byte of the answer. Default 10,000. */
  timeoutMs?: number | undefined;
  /** The maximum number of retries after a failed attempt, 0 to 100. Default 4. */
  retries?: number | undefined;
  /** Replaces the global `fetch`. It must support `signal` and `redirect: "manual"`. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** The service to call, the partner, and the limits of a call. */
export interface ClientOptions extends ConnectionOptions {
  /** The partner's business identifier (docs/specification.md, "Business identifier"). */
  bizID: string;
  /** Returns the current time in ms since 1970. Default `Date.now`. */
  now?: (() => number) | undefined;
}

/** Options of every operation. */
export interface CallOptions {
  /** Aborts the call, which then throws TransportError ABORTED. */
  signal?: AbortSignal | undefined;
}

/** `ConnectionOptions`, checked and with defaults. */
export interface CheckedConnection extends Pick<ConnectionOptions, "serviceUrl" | "fetch"> {
  timeoutMs: number;
  retries: number;
}

/** `ClientOptions`, checked and with defaults. */
export interface CheckedOptions extends CheckedConnection, Pick<ClientOptions, "bizID"> {
  now: () => number;
}

/** The names of the options of every client. */
export const CONNECTION: (keyof ConnectionOptions)[] = ["serviceUrl", "timeoutMs", "retries", "fetch"];

/**
 * Checks the options of a client, and completes them with their defaults.
 * @param names the names of the client's other options
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkClientOptions<T extends ClientOptions>(
  options: T,
  ...names: (keyof T & string)[]
): CheckedOptions {
  checkObject("The client's options", options, "an object with serviceUrl, bizID and a refresh token");
  const { bizID, now = Date.now } = checkNames("The client's options", options, [
    ...CONNECTION,
    "bizID",
    "now",
    ...names,
  ]);
  return {
    ...checkConnection(options),
    bizID: checkBizID("The option bizID", bizID),
    now: checkFunction("The option now", now),
  };
}

/** Checks the options of every client that connects to the service. @throws ArgumentError ARGUMENT_INVALID */
export function checkConnection(options: ConnectionOptions): CheckedConnection {
  const { serviceUrl, timeoutMs = 10_000, retries = 4, fetch } = options;
  return {
    serviceUrl: checkBaseUrl(serviceUrl),
    timeoutMs: checkInteger("The option timeoutMs", timeoutMs, 1, MAX_TIMEOUT_MS),
    retries: checkInteger("The option retries", retries, 0, 100),
    fetch: optional(checkFunction, "The option fetch", fetch),
  };
}

/** Checks a partner's id. @throws ArgumentError ARGUMENT_INVALID */
export function checkBizID(what: string, bizID: unknown): string {
  return checkText(what, bizID, "the partner's business identifier, without spaces", /^[\x21-\x7e]{1,200}$/);
}

/** A user id from 32 characters of zBase32 or 40 hex digits. @throws ArgumentError USER_ID_INVALID */
export function toUserID(text: string): UserID {
  const isHex = typeof text === "string" && /^[0-9a-f]{40}$/i.test(text);
  return isHex ? userIDFromHex(text.toLowerCase()) : parseUserID(text);
}

/** The body of a request about a user's key. @throws ArgumentError USER_ID_INVALID, ARGUMENT_INVALID */
export function keyOf(userID: string, keyID: string) {
  const id = toUserID(userID);
  return { id, body: { user_id_hex: userIDToHex(id), key_id: checkText("The argument keyID", keyID) } };
}

/**
 * Returns the key, or a random one if it is undefined.
 * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
 */
export function checkIdempotencyKey(key: unknown = bytesToHex(randomBytes(16))): string {
  if (typeof key === "string" && /^[\x21-\x7e]{32,128}$/.test(key)) return key;
  const message = `The idempotency key must be 32 to 128 visible ASCII characters, but it is ${describeValue(key)}.`;
  throw new ArgumentError("IDEMPOTENCY_KEY_INVALID", message);
}

/**
 * Checks the options of an operation.
 * @param names the names of its options other than `signal`
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkCallOptions<T extends CallOptions>(options: T, ...names: (keyof T & string)[]): T {
  checkNames("The operation's options", checkObject("The operation's options", options), ["signal", ...names]);
  optional(checkSignal, "The option signal", options.signal);
  return options;
}

/**
 * Returns the refresh token. The error does not show it.
 * @param prefix the first characters of this kind of token
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkRefreshToken(option: string, token: unknown, prefix: "krs_" | "kru_"): string {
  if (typeof token === "string" && token.startsWith(prefix) && /^[\x21-\x7e]{5,500}$/.test(token)) return token;
  const owner = prefix === "krs_" ? "a server's" : "a user's";
  const message = `The option ${option} must be ${owner} refresh token, which begins with ${prefix}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** Returns the URL without slashes at the end. Refuses http except on this machine, because tokens are sent there. */
function checkBaseUrl(serviceUrl: unknown): string {
  const { href } = parseUrl(checkUrl("serviceUrl", serviceUrl, "Tokens are sent there."));
  if (/[?#]./.test(href)) {
    throw new ArgumentError("ARGUMENT_INVALID", "The option serviceUrl must be a URL without ? and #.");
  }
  return href.replace(/\/+$/, "");
}
