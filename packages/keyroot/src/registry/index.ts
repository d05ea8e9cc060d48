export {
  USERS_SLOT,
  USER_COUNT_CALL,
  USER_COUNT_SLOT,
  decodeBlockNumber,
  decodeChainId,
  decodeCode,
  decodeUserCount,
  encodeAddMerkleTreeRoot,
  encodeGetBlockNumber,
  encodeGetMerkleTreeRoot,
} from "./calldata.ts";
export { type BlockRange, type RootAddedLog, readRootsAdded } from "./events.ts";
export { readMerkleTreeRoots } from "./readMerkleTreeRoots.ts";
export { slotOfUser } from "../ethereum/storageProof.ts";
