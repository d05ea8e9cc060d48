/**
 * The entry `keyroot`, which contains everything that an app needs to verify keys. The entry runs in browsers and in
 * Node.
 */
export * from "./errors.ts";
export { makeKeyRecord, parseKeyRecord } from "./identity/keyRecord.ts";
export { type KeyRecord, serializeKeyRecord } from "./identity/serializedRecord.ts";
export { checkKeyRecord } from "./identity/checkKeyRecord.ts";
export { checkPublicKey, keyIDOf } from "./identity/publicKey.ts";
export { ANY_KEY, type ExpectedKey } from "./identity/compareKey.ts";
export { deriveUserID } from "./identity/deriveUserID.ts";
export {
  isUserID,
  parseUserID,
  randomUserID,
  USER_ID_BYTES,
  type UserID,
  userIDFromBytes,
  userIDFromHex,
  userIDToBytes,
  userIDToHex,
} from "./identity/userID.ts";
export { makeMerkleFile, serializeMerkleFile } from "./merkle/file.ts";
export type { MerkleFile } from "./merkle/fileOf.ts";
export { parseMerkleFile } from "./merkle/parseMerkleFile.ts";
export {
  verifyMerkleProof,
  makeMerkleProof,
  type MerkleProof,
  parseMerkleProof,
  type ProofQuery,
  type ProvenKey,
  type Sibling,
} from "./merkle/proof.ts";
export { MerkleTree } from "./merkle/tree.ts";
export type { Limits } from "./transport/limits.ts";
export type { Eip1193Provider } from "./transport/jsonRpc.ts";
export type { Evidence, EvidenceDetails } from "./evidence.ts";
export type { Trust } from "./trust/trust.ts";
export type { BlockOptions } from "./trust/blockOptions.ts";
export { oneEndpoint } from "./trust/oneEndpoint.ts";
export { endpoints, type EndpointsOptions } from "./trust/endpoints.ts";
export { ownNode } from "./trust/ownNode.ts";
export { pinnedBlock } from "./trust/pinnedBlock.ts";
export type { KeyOptions, VerifierOptions } from "./verifier/options.ts";
export type { Store } from "./store/store.ts";
export type { CachedAnswer } from "./verifier/equivocation.ts";
export { createVerifier, type Verifier } from "./verifier/createVerifier.ts";
export type { Contact } from "./verifier/contacts.ts";
export type { ContactListOptions, ContactOutcome } from "./verifier/verifyContacts.ts";
export type { VerifiedKey } from "./verifier/verifyKey.ts";
export type { Alarm, AlarmCode } from "./watch/alarm.ts";
export type { Watch, WatchKeysOptions, WatchStatus } from "./watch/watch.ts";
