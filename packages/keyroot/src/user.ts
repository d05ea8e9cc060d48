/** The entry `keyroot/user` with the client for a user's app. The client runs in browsers and in Node. */
export { ArgumentError, type ErrorCode, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export type { ConflictingKey, KeyProgress, ShadowUser, UserPublicKey, UserRecord } from "./client/operations.ts";
export type { CallOptions } from "./client/options.ts";
export type { KeyPair } from "./identity/newPublicKey.ts";
export type { PossessionStatement } from "./identity/possession.ts";
export type { Region } from "./identity/region.ts";
export type { ExternalKey, PossessionOptions } from "./client/user/possessionOptions.ts";
export { UserClient, type UserClientOptions } from "./client/user/userClient.ts";
