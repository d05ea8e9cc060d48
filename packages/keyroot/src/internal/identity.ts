export { deriveUserID } from "../identity/deriveUserID.ts";
export { ANY_KEY } from "../identity/compareKey.ts";
export { checkKeyRecord } from "../identity/checkKeyRecord.ts";
export { makeKeyRecord, parseKeyRecord, toKeyRecord } from "../identity/keyRecord.ts";
export type { KeyRecord } from "../identity/serializedRecord.ts";
export { serializeKeyRecord } from "../identity/serializeKeyRecord.ts";
export { checkNewPublicKey, generateKeyPair, type KeyPair } from "../identity/newPublicKey.ts";
export { checkKeyPair, makeChallenge, provePossession } from "../identity/possession/curve41417.ts";
export type { MadeChallenge, OwnKey, PrivateKey, WebCryptoKey } from "../identity/possession/method.ts";
export { proveWithWebCrypto } from "../identity/possession/webCrypto.ts";
export {
  type ChallengeRequest,
  NONCE_BYTES,
  type PossessionStatement,
  possessionTranscript,
  responseOf,
  serviceNameOf,
} from "../identity/possession/statement.ts";
export { curve41417 } from "../identity/keyTypes/curve41417.ts";
export type { KeyType, KeyTypeName } from "../identity/keyTypes/keyType.ts";
export { KEY_ID_BYTES, checkPublicKey, keyIDOf } from "../identity/publicKey.ts";
export { REGIONS, type Region, isRegion } from "../identity/region.ts";
export {
  USER_ID_BYTES,
  type UserID,
  isUserID,
  parseUserID,
  randomUserID,
  userIDFromBytes,
  userIDFromHex,
  userIDToHex,
} from "../identity/userID.ts";
export { packUserIDs, userIDToBytes } from "../identity/userIDBytes.ts";
