export { checkBlockAge, MAX_AHEAD_MS } from "../ethereum/blockAge.ts";
export {
  type BlockParameter,
  fetchBlock,
  fetchBlockByHash,
  fetchChainId,
  fetchGenesisHash,
} from "../ethereum/blocks.ts";
export { hasValidChecksum } from "../ethereum/checksum.ts";
export { checkCodeHash, EMPTY_CODE_HASH } from "../ethereum/checkCodeHash.ts";
export { fetchCodeHash } from "../ethereum/fetchCodeHash.ts";
export { type BlockHeader, extractHeader } from "../ethereum/header.ts";
export { type Log, parseLogs } from "../ethereum/log.ts";
export { LOWERCASE_ADDRESS, toHash } from "../ethereum/rpcData.ts";
export { ADDRESS, LOWERCASE_HASH, isHash } from "../ethereum/rpcValues.ts";
export { parseQuantity, parseSafeQuantity, toQuantity } from "../ethereum/rpcValues.ts";
export { encodeRlp } from "../ethereum/rlp.ts";
export { extractProof, verifyStorageProof } from "../ethereum/storageProof.ts";
export { checkChecksum } from "../ethereum/checksum.ts";
