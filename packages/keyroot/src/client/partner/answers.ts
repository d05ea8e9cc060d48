import { ANSWER, readShadowUser, readUserID, type ShadowUser } from "../answers.ts";
import type { UserID } from "../../identity/userID.ts";

/** A shadow user that `createUser` created, by this call or an earlier one. */
export interface CreatedUser extends ShadowUser {
  status: 201;
}

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
}

/** The metadata of a server's refresh token. */
export interface ServerToken extends Omit<RefreshToken, "context"> {
  name: string | null;
}

/** A page of a partner's users. */
export interface UserPage {
  users: ShadowUser[];
  /** The `after` of the next page; null on the last page. */
  next: UserID | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** More than the largest answer can hold. */
const MAX_TOKENS = 2 ** 16;

export function readCreatedUser(answer: unknown): CreatedUser {
  const { status } = ANSWER.fields("The answer", answer, ["status"]);
  ANSWER.text("status", typeof status === "number" ? `${status}` : status, /^201$/);
  return { status: 201, ...readShadowUser("user", answer) };
}

export function readUserPage(answer: unknown, limit: number): UserPage {
  const { users, next } = ANSWER.fields("The answer", answer, ["users", "next"]);
  return {
    users: ANSWER.list("users", users, limit, readShadowUser),
    next: next === null ? null : readUserID("next", next),
  };
}

/** A user's refresh token: a prefix and 256 random bits. */
export function readToken(answer: unknown): string {
  return ANSWER.secret("token", ANSWER.fields("The answer", answer, ["token"]).token, /^kru_[\x21-\x7e]{1,495}$/);
}

export function readRefreshToken(where: string, answer: unknown): RefreshToken {
  const { context } = ANSWER.fields(where, answer, ["context"]);
  return { ...readTokenMetadata(where, answer), context: ANSWER.text(`${where}.context`, context) };
}

export function readServerToken(where: string, answer: unknown): ServerToken {
  const { name } = ANSWER.fields(where, answer, ["name"]);
  return { ...readTokenMetadata(where, answer), name: name === null ? null : ANSWER.text(`${where}.name`, name) };
}

export function readTokens<T>(answer: unknown, read: (where: string, answer: unknown) => T): T[] {
  return ANSWER.list("tokens", ANSWER.fields("The answer", answer, ["tokens"]).tokens, MAX_TOKENS, read);
}

function readTokenMetadata(where: string, answer: unknown): Omit<RefreshToken, "context"> {
  const { token_id, created, revoked } = ANSWER.fields(where, answer, ["token_id", "created", "revoked"]);
  return {
    token_id: ANSWER.text(`${where}.token_id`, token_id, UUID),
    created: ANSWER.count(`${where}.created`, created),
    revoked: revoked === null ? null : ANSWER.count(`${where}.revoked`, revoked),
  };
}
