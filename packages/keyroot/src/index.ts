/** The entry `keyroot`, with everything that an app needs to verify keys. It runs in browsers and in Node. */
export {
  type Advice,
  ArgumentError,
  EnvironmentError,
  type ErrorCode,
  ERROR_CODES,
  KeyrootError,
  TransportError,
  VerificationError,
  type VerificationStep,
} from "./errors.ts";
export { describeError, type ErrorDescription } from "./describeError.ts";
export type { Accounts } from "./account/choice.ts";
export type { Evidence, EvidenceDetails } from "./evidence.ts";
export { ANY_KEY, type ExpectedKey } from "./identity/compareKey.ts";
export type { KeyRecord } from "./identity/serializedRecord.ts";
export { isUserID, type UserID, userIDFromHex, userIDToHex } from "./identity/userID.ts";
export type { Store } from "./store/store.ts";
export type { Eip1193Provider } from "./transport/jsonRpc.ts";
export type { Limits } from "./transport/limits.ts";
export type { BlockOptions } from "./trust/blockOptions.ts";
export { endpoints, type EndpointsOptions } from "./trust/endpoints.ts";
export { oneEndpoint } from "./trust/oneEndpoint.ts";
export { ownNode } from "./trust/ownNode.ts";
export { pinnedBlock } from "./trust/pinnedBlock.ts";
export type { Trust } from "./trust/trust.ts";
export type { Contact } from "./verifier/contacts.ts";
export { createVerifier, type Verifier } from "./createVerifier.ts";
export type { CachedAnswer } from "./verifier/equivocation.ts";
export type { KeyOptions, VerifierOptions } from "./verifier/options.ts";
export type { ContactListOptions, ContactOutcome } from "./verifier/verifyContacts.ts";
export type { CachedVerification, VerifiedAccount, VerifiedKey } from "./verifier/verifiedKey.ts";
export type { Alarm, AlarmCode } from "./watch/alarm.ts";
export type { Watch, WatchKeysOptions, WatchStatus } from "./watch/watch.ts";
