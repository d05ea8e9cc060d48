import { count, nullable, object, text, uuid } from "./answers.ts";
import type { RefreshToken, ServerToken } from "./operations.ts";

const TOKEN_FIELDS = { token_id: uuid, created: count, revoked: nullable(count), last_used: nullable(count) };
export const refreshToken = object<RefreshToken>({ ...TOKEN_FIELDS, context: text() });
/** The fields that describe a server token. They do not include the token itself. */
export const SERVER_TOKEN_FIELDS = { ...TOKEN_FIELDS, name: nullable(text()) };
/** Checks the description of a server token. */
export const serverToken = object<ServerToken>(SERVER_TOKEN_FIELDS);
