/**
 * The entry `@keyroot/client/user`, with the client for a user's app. It runs in browsers and in Node.
 */
export { ArgumentError, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export { type ClientErrorCode as ErrorCode } from "./errorCodes.ts";
export type {
  AccountStatement,
  Challenge,
  ConflictingKey,
  KeyChange,
  KeyProgress,
  RegisteredKey,
  UserAccount,
  UserFields,
  UserKey,
  UserRecord,
} from "./shared/operations.ts";
export type { CallOptions } from "./shared/options.ts";
export type { KeyPair, OwnKey, PossessionStatement, PrivateKey, WebCryptoKey } from "keyroot/internal/identity";
export type { Region } from "keyroot/internal/formats";
export type { ExternalKey, PossessionOptions } from "./user/possessionOptions.ts";
export { UserClient, type UserClientOptions } from "./user/userClient.ts";
