export { deriveUserID } from "./deriveUserID.ts";
export { ANY_KEY, type ExpectedKey } from "./compareKey.ts";
export { checkKeyRecord } from "./checkKeyRecord.ts";
export { makeKeyRecord, parseKeyRecord } from "./keyRecord.ts";
export { type KeyRecord, serializeKeyRecord } from "./serializedRecord.ts";
export { toKeyRecord } from "./toKeyRecord.ts";
export { checkNewPublicKey, generateKeyPair, type KeyPair } from "./newPublicKey.ts";
export {
  type ChallengeRequest,
  makeChallenge,
  NONCE_BYTES,
  type PossessionStatement,
  possessionTranscript,
  provePossession,
  RESPONSE_BYTES,
  responseOf,
  serviceNameOf,
} from "./possession.ts";
export { KEY_ID_BYTES, PUBLIC_KEY_BYTES, checkPublicKey, keyIDOf } from "./publicKey.ts";
export { REGIONS, type Region, isRegion } from "./region.ts";
export {
  USER_ID_BYTES,
  type UserID,
  isUserID,
  packUserIDs,
  parseUserID,
  randomUserID,
  userIDFromBytes,
  userIDFromHex,
  userIDToBytes,
  userIDToHex,
} from "./userID.ts";
