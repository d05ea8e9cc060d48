export { checkBlockAge } from "../ethereum/blockAge.ts";
export {
  type BlockParameter,
  fetchBlock,
  fetchBlockByHash,
  fetchChainId,
  fetchGenesisHash,
} from "../ethereum/blocks.ts";
export { checkCodeHash, EMPTY_CODE_HASH } from "../ethereum/checkCodeHash.ts";
export { checkChecksum, hasValidChecksum } from "../ethereum/checksum.ts";
export { fetchCodeHash } from "../ethereum/fetchCodeHash.ts";
export { type BlockHeader, extractHeader } from "../ethereum/header.ts";
export { type Log, parseLogs } from "../ethereum/log.ts";
export { encodeRlp } from "../ethereum/rlp.ts";
export { LOWERCASE_ADDRESS, toHash } from "../ethereum/rpcData.ts";
export {
  ADDRESS,
  isHash,
  LOWERCASE_HASH,
  parseQuantity,
  parseSafeQuantity,
  toQuantity,
} from "../ethereum/rpcValues.ts";
export { extractProof, verifyStorageProof } from "../ethereum/storageProof.ts";
