/**
 * Formats of ids, keys and hashes, without the code for curves and proofs. As soon as a page imports anything from an
 * entry, the whole entry is loaded. The code that a page loads first therefore imports this small entry instead of
 * `identity`, `ethereum` and `merkle`.
 */
export { ADDRESS } from "../ethereum/rpcValues.ts";
export { ANY_KEY } from "../identity/compareKey.ts";
export { checkKeyRecord } from "../identity/checkKeyRecord.ts";
export { curve41417 } from "../identity/keyTypes/curve41417.ts";
export { checkKeyType, type KeyType } from "../identity/keyTypes/keyType.ts";
export { checkPublicKey, keyIDOf } from "../identity/publicKey.ts";
export type { Region } from "../identity/region.ts";
export { isUserID, parseUserID, USER_ID, type UserID, userIDFromHex, userIDToHex } from "../identity/userID.ts";
