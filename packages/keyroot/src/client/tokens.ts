import { count, nullable, object, text, uuid } from "./answers.ts";
import type { RefreshToken, ServerToken } from "./operations.ts";

const TOKEN_FIELDS = { token_id: uuid, created: count, revoked: nullable(count), last_used: nullable(count) };
export const refreshToken = object<RefreshToken>({ ...TOKEN_FIELDS, context: text() });
/** The fields of a server token without its value. */
export const SERVER_TOKEN_FIELDS = { ...TOKEN_FIELDS, name: nullable(text()) };
/** A server token without its value. */
export const serverToken = object<ServerToken>(SERVER_TOKEN_FIELDS);
