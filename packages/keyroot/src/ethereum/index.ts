export { ADDRESS, LOWERCASE_ADDRESS } from "./address.ts";
export { type BlockParameter, fetchBlock, fetchBlockByHash, fetchChainId, fetchGenesisHash } from "./blocks.ts";
export { EMPTY_CODE_HASH, fetchCodeHash } from "./codeHash.ts";
export { LOWERCASE_HASH, isHash, toHash } from "./hash.ts";
export { type BlockHeader } from "./header.ts";
export { type Log, parseLogs } from "./log.ts";
export { parseQuantity, parseSafeQuantity, toQuantity } from "./quantity.ts";
export { extractProof, verifyStorageProof } from "./storageProof.ts";
