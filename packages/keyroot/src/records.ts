/** The entry `keyroot/records`, with user ids, public keys, proofs that a user holds a key, and key records. */
export { deriveUserID } from "./identity/deriveUserID.ts";
export { checkKeyRecord } from "./identity/checkKeyRecord.ts";
export { makeKeyRecord, parseKeyRecord } from "./identity/keyRecord.ts";
export { checkNewPublicKey, generateKeyPair, type KeyPair } from "./identity/newPublicKey.ts";
export { possessionTranscript, responseOf } from "./identity/possession/statement.ts";
export { checkPublicKey, keyIDOf } from "./identity/publicKey.ts";
export type { KeyRecord } from "./identity/serializedRecord.ts";
export { serializeKeyRecord } from "./identity/serializeKeyRecord.ts";
export { parseUserID, randomUserID, USER_ID_BYTES, type UserID, userIDFromBytes } from "./identity/userID.ts";
export { userIDToBytes } from "./identity/userIDBytes.ts";
