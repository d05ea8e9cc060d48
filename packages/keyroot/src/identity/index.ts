export {
  type KeyRecord,
  checkKeyRecord,
  makeKeyRecord,
  parseKeyRecord,
  serializeKeyRecord,
  toKeyRecord,
} from "./keyRecord.ts";
export { checkNewPublicKey, generateKeyPair } from "./newPublicKey.ts";
export { KEY_ID_BYTES, PUBLIC_KEY_BYTES, checkPublicKey, keyIDOf } from "./publicKey.ts";
export { REGIONS, type Region, isRegion } from "./region.ts";
export {
  USER_ID_BYTES,
  type UserID,
  deriveUserID,
  isUserID,
  parseUserID,
  randomUserID,
  userIDFromBytes,
  userIDFromHex,
  userIDToBytes,
  userIDToHex,
} from "./userID.ts";
