/** `keyroot/user`: the client for a user's app. Runs in browsers and in Node. */
export { ArgumentError, type ErrorCode, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export type { ShadowUser } from "./client/answers.ts";
export type { CallOptions } from "./client/options.ts";
export type { Region } from "./identity/region.ts";
export {
  type KeyState,
  type RegisteredKey,
  UserClient,
  type UserClientOptions,
  type UserPublicKey,
  type UserRecord,
} from "./client/user/userClient.ts";
