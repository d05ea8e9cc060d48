export { ZERO_ROOT, encodeAddMerkleTreeRoot, encodeGetMerkleTreeRoot } from "./calldata.ts";
export { decodeUserCount } from "./answers.ts";
export {
  type BlockRange,
  ROOT_ADDED_TOPIC,
  type RootAddedLog,
  decodeRootAddedLog,
  fetchRootAddedLogs,
} from "./events.ts";
export { readMerkleTreeRoots } from "./readMerkleTreeRoots.ts";
export { fetchBlockNumber, fetchOwner, fetchUserCount } from "./reads.ts";
export { slotOfBlockNumber, slotOfUser } from "./slotOfUser.ts";
export { USER_COUNT_SLOT, USERS_SLOT, usersSlotOf } from "./slots.ts";
