export { encodeAddMerkleTreeRoot } from "../registry/addRootCalldata.ts";
export { ZERO_ROOT, encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
export { decodeUserCount } from "../registry/answers.ts";
export {
  type BlockRange,
  ROOT_ADDED_TOPIC,
  type RootAddedLog,
  decodeRootAddedLog,
  fetchRootAddedLogs,
} from "../registry/events.ts";
export { readMerkleTreeRoots, USERS_PER_CALL } from "../registry/readMerkleTreeRoots.ts";
export { fetchBlockNumber, fetchOwner, fetchUserCount } from "../registry/reads.ts";
export { slotOfBlockNumber, slotOfUser, USER_COUNT_SLOT, USERS_SLOT } from "../registry/slots.ts";
