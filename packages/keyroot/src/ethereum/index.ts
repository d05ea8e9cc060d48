export { ADDRESS, LOWERCASE_ADDRESS } from "./rpcValues.ts";
export { checkBlockAge, MAX_AHEAD_MS } from "./blockAge.ts";
export { type BlockParameter, fetchBlock, fetchBlockByHash, fetchChainId, fetchGenesisHash } from "./blocks.ts";
export { checkCodeHash, EMPTY_CODE_HASH, fetchCodeHash } from "./codeHash.ts";
export { LOWERCASE_HASH, isHash, toHash } from "./rpcValues.ts";
export { type BlockHeader, extractHeader } from "./header.ts";
export { type Log, parseLogs } from "./log.ts";
export { parseQuantity, parseSafeQuantity, toQuantity } from "./rpcValues.ts";
export { extractProof, verifyStorageProof } from "./storageProof.ts";
