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
export type { Anchor, Evidence } from "./evidence.ts";
export type { VerifyOptions } from "./verifier/options.ts";
export type { Store } from "./store/store.ts";
export type { CachedAnswer } from "./verifier/equivocation.ts";
export { createVerifier, type Verifier, type VerifierOptions } from "./verifier/createVerifier.ts";
export type { Contact } from "./verifier/contacts.ts";
export type { ContactListOptions, ContactOutcome } from "./verifier/verifyContacts.ts";
export { verifyMany, type VerifyManyOptions } from "./verifier/verifyMany.ts";
export { type KeyOptions, type VerifiedKey, verifyPublicKey } from "./verifier/verifyPublicKey.ts";
export type { Alarm, AlarmCode } from "./watch/alarm.ts";
export type { Watch, WatchKeysOptions, WatchStatus } from "./watch/watch.ts";
