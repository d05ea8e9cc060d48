import { ANSWER, checkSubject, readShadowUser, readUserID, type ShadowUser } from "../answers.ts";
import { type KeyProgress, type OtherKey, readKey, readOtherKeys, readProgress, type RegisteredKey } from "../keys.ts";
import type { ServiceError } from "../../errors.ts";
import type { Region } from "../../identity/region.ts";
import type { UserID } from "../../identity/userID.ts";
import { toServiceError } from "../problem.ts";

/** A shadow user that `createUser` created, by this call or an earlier one. */
export interface CreatedUser extends ShadowUser {
  status: 201;
}

/** A user to create. With a `context`, the user gets a refresh token for this device or purpose. */
export interface UserToCreate {
  /** 32 characters of zBase32, or 40 hex digits. */
  userID: string;
  region: Region;
  /** The device or purpose of the refresh token, at most 200 characters. Default: no token is created. */
  context?: string | undefined;
}

/** The result for one user of a list: the user, with the token that was requested, or why the service refused it. */
export type CreateUsersResult = (CreatedUser & { token?: string }) | { error: ServiceError };

/** The metadata of a user's refresh token. The service shows the token itself once, when it creates it. */
export interface RefreshToken {
  /** A UUID. */
  token_id: string;
  /** The device or purpose of the token. */
  context: string;
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; null while the token is valid. */
  revoked: number | null;
  /** The beginning of the hour in which the token was last used, in ms since 1970; null before its first use. */
  last_used: number | null;
}

/** The metadata of a server's refresh token. */
export interface ServerToken extends Omit<RefreshToken, "context"> {
  name: string | null;
}

/** A user whose tokens are refused. */
export interface DeactivatedUser {
  user_id: UserID;
  /** Milliseconds since 1970. */
  deactivated: number;
}

/** A user whose data was deleted. */
export interface ErasedUser {
  user_id: UserID;
  /** Milliseconds since 1970. */
  erased: number;
  /** `remains` if the user's public key is on the chain or about to be: it cannot be deleted. */
  key: "deleted" | "remains";
}

/** A page of a partner's users. */
export interface UserPage {
  users: ShadowUser[];
  /** The `after` of the next page; null on the last page. */
  next: UserID | null;
}

/** A page of tokens. */
export interface TokenPage<Token> {
  tokens: Token[];
  /** The `after` of the next page; null on the last page. */
  next: string | null;
}

/** A user's public key for the partner, as the service states it. It has a key unless its state is `unregistered`. */
export interface KeyOfUser extends Partial<RegisteredKey>, KeyProgress {
  user_id: UserID;
  /** Other keys that were offered for this user, or withdrawn, about which the partner has not decided. */
  otherKeys: OtherKey[];
  /** What happened to the user's keys, the newest first. */
  events: KeyEvent[];
}

/** Something that happened to a user's key before it was published. */
export interface KeyEvent {
  /**
   * `registered`: the user has this key now. `offered`: this key was refused, because the user has another one. `withdrawn` and
   * `discarded`: the user, or the partner, removed this key. `approved`: the partner decided for this key.
   */
  type: (typeof EVENT_TYPES)[number];
  keyID: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Of `registered`: whether an earlier key was withdrawn or discarded. */
  after_withdrawal: boolean;
}

const EVENT_TYPES = ["registered", "offered", "withdrawn", "discarded", "approved"] as const;
/** The service keeps 100. */
const MAX_EVENTS = 1000;

/** Something that happened to the partner or one of its users. Webhooks have the same contents. */
export interface PartnerEvent {
  /** For example `user.created` or `key.published`. A newer service may have more types. */
  type: string;
  /** In UTC (RFC 3339). */
  timestamp: string;
  /** A UUID. An event that is listed again has the same id. */
  id: string;
  /** Ids and values of what changed, such as `user_id` and `keyID`. */
  data: Record<string, unknown>;
}

/** The events after a cursor, the oldest first. */
export interface EventPage {
  /** Empty if there is nothing new. */
  events: PartnerEvent[];
  /** The `after` of the next call. */
  cursor: string;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param wanted the user of the request */
export function readCreatedUser(where: string, answer: unknown, wanted: { id: UserID; region: string }): CreatedUser {
  const { status } = ANSWER.fields(where, answer, ["status"]);
  ANSWER.text(`${where}.status`, typeof status === "number" ? `${status}` : status, /^201$/);
  const user = readShadowUser(where, answer);
  checkSubject("user", wanted.id, user.user_id);
  checkSubject("region", wanted.region, user.region);
  return { status: 201, ...user };
}

/** @param wanted the users of the request */
export function readCreatedUsers(
  answer: unknown,
  wanted: readonly { id: UserID; region: string; context?: string | undefined }[],
): CreateUsersResult[] {
  const { users } = ANSWER.fields("The answer", answer, ["users"]);
  const results = ANSWER.list("users", users, wanted.length, (where, item) => ({ where, item }));
  return wanted.map((user, i) => {
    const { where, item } = results[i] ?? { where: `users[${i}]`, item: undefined };
    const fields = ANSWER.fields(where, item, ["status", "code", "detail"]);
    const status = ANSWER.count(`${where}.status`, fields.status);
    if (status >= 400 && status <= 599)
      return { error: toServiceError(`The service refuses the user ${user.id}`, status, fields) };
    const created = readCreatedUser(where, item, user);
    return user.context === undefined ? created : { ...created, token: readToken(where, item) };
  });
}

export function readUserPage(answer: unknown, limit: number): UserPage {
  const { users, next } = ANSWER.fields("The answer", answer, ["users", "next"]);
  return {
    users: ANSWER.list("users", users, limit, readShadowUser),
    next: next === null ? null : readUserID("next", next),
  };
}

export function readKeyOfUser(answer: unknown): KeyOfUser {
  const { user_id, events } = ANSWER.fields("The answer", answer, ["user_id", "events"]);
  const userID = readUserID("user_id", user_id);
  const progress = readProgress(answer);
  return {
    user_id: userID,
    ...progress,
    ...(progress.state !== "unregistered" && readKey(userID, answer)),
    otherKeys: readOtherKeys(answer),
    events: ANSWER.list("events", events, MAX_EVENTS, readEvent),
  };
}

function readEvent(where: string, answer: unknown): KeyEvent {
  const fields = ANSWER.fields(where, answer, ["type", "keyID", "at", "after_withdrawal"]);
  return {
    type: ANSWER.oneOf(`${where}.type`, fields.type, EVENT_TYPES),
    keyID: ANSWER.text(`${where}.keyID`, fields.keyID),
    at: ANSWER.count(`${where}.at`, fields.at),
    after_withdrawal: ANSWER.boolean(`${where}.after_withdrawal`, fields.after_withdrawal),
  };
}

export function readEventPage(answer: unknown, limit: number): EventPage {
  const { events, cursor } = ANSWER.fields("The answer", answer, ["events", "cursor"]);
  return {
    events: ANSWER.list("events", events, limit, readPartnerEvent),
    cursor: ANSWER.text("cursor", cursor, /^[\w-]{1,1000}$/),
  };
}

function readPartnerEvent(where: string, answer: unknown): PartnerEvent {
  const fields = ANSWER.fields(where, answer, ["type", "timestamp", "id", "data"]);
  return {
    type: ANSWER.text(`${where}.type`, fields.type),
    timestamp: ANSWER.text(`${where}.timestamp`, fields.timestamp, /^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z$/),
    id: ANSWER.text(`${where}.id`, fields.id, UUID),
    data: ANSWER.dictionary(`${where}.data`, fields.data),
  };
}

/** Checks that an answer is about this user's key. */
export function checkKeyAnswer(answer: unknown, userID: UserID, keyID: string): void {
  const fields = ANSWER.fields("The answer", answer, ["user_id", "keyID"]);
  checkSubject("user", userID, readUserID("user_id", fields.user_id));
  checkSubject("public key", keyID, ANSWER.text("keyID", fields.keyID));
}

export function readDeactivation(answer: unknown): DeactivatedUser {
  const { user_id, deactivated } = ANSWER.fields("The answer", answer, ["user_id", "deactivated"]);
  return { user_id: readUserID("user_id", user_id), deactivated: ANSWER.count("deactivated", deactivated) };
}

export function readErasure(answer: unknown): ErasedUser {
  const { user_id, erased, key } = ANSWER.fields("The answer", answer, ["user_id", "erased", "key"]);
  return {
    user_id: readUserID("user_id", user_id),
    erased: ANSWER.count("erased", erased),
    key: ANSWER.oneOf("key", key, ["deleted", "remains"]),
  };
}

/** A user's refresh token: a prefix and 256 random bits. */
export function readToken(where: string, answer: unknown): string {
  return ANSWER.secret(`${where}.token`, ANSWER.fields(where, answer, ["token"]).token, /^kru_[\x21-\x7e]{1,495}$/);
}

export function readRefreshToken(where: string, answer: unknown): RefreshToken {
  const { context } = ANSWER.fields(where, answer, ["context"]);
  return { ...readTokenMetadata(where, answer), context: ANSWER.text(`${where}.context`, context) };
}

export function readServerToken(where: string, answer: unknown): ServerToken {
  const { name } = ANSWER.fields(where, answer, ["name"]);
  return { ...readTokenMetadata(where, answer), name: name === null ? null : ANSWER.text(`${where}.name`, name) };
}

export function readTokenPage<Token>(
  answer: unknown,
  limit: number,
  read: (where: string, answer: unknown) => Token,
): TokenPage<Token> {
  const { tokens, next } = ANSWER.fields("The answer", answer, ["tokens", "next"]);
  return {
    tokens: ANSWER.list("tokens", tokens, limit, read),
    next: next === null ? null : ANSWER.text("next", next, UUID),
  };
}

function readTokenMetadata(where: string, answer: unknown): Omit<RefreshToken, "context"> {
  const fields = ["token_id", "created", "revoked", "last_used"] as const;
  const { token_id, created, revoked, last_used } = ANSWER.fields(where, answer, fields);
  return {
    token_id: ANSWER.text(`${where}.token_id`, token_id, UUID),
    created: ANSWER.count(`${where}.created`, created),
    revoked: revoked === null ? null : ANSWER.count(`${where}.revoked`, revoked),
    last_used: last_used === null ? null : ANSWER.count(`${where}.last_used`, last_used),
  };
}
