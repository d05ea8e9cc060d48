/** `keyroot/user`: the client for a user's app. Runs in browsers and in Node. */
export { ArgumentError, type ErrorCode, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export type { ShadowUser } from "./client/answers.ts";
export type { CallOptions } from "./client/options.ts";
export type { KeyPair } from "./identity/newPublicKey.ts";
export type { PossessionStatement } from "./identity/possession.ts";
export type { KeyProgress, KeyState, OtherKey, Possession, RegisteredKey } from "./client/keys.ts";
export type { Region } from "./identity/region.ts";
export type { ExternalKey, PossessionOptions } from "./client/user/possession.ts";
export { UserClient, type UserClientOptions, type UserPublicKey, type UserRecord } from "./client/user/userClient.ts";
