/**
 * The reads of a registry that several parts share: `audit`, `watch`, the publisher's confirmation and the service's
 * comparison. They cover events in ranges, blocks with their age and finality, roots at a block, and Merkle-tree files.
 */
export { type BlockCursor, checkBlock, isOnChain, isStillOnChain } from "./blocks.ts";
export { AccountIndex } from "./accountIndex.ts";
export {
  checkFileSource,
  type FetchFile,
  fetchFromHost,
  type FileSource,
  findStrayFiles,
  MAX_ACCOUNT_FILE_BYTES,
  readAccountFiles,
  readFileOf,
} from "./fileSource.ts";
export { type DatedRootLog, type History, readHistory, type SavedHistory } from "./history.ts";
export { chainKeyOf, isLocalChain, isLocalChainId } from "./localChains.ts";
export { readRootAddedLogs } from "./logRanges.ts";
export { type ChainReading, divideByRoot, type DividedUsers, proveRecords } from "./proveKeys.ts";
export { proveBlockNumber, proveRoots, proveSlots } from "./proveSlots.ts";
export { type AuditedContract, type ContractCounts, fetchUserCountIfAny, readCounts } from "./readCounts.ts";
export { readRoots, type UserRoot } from "./readRoots.ts";
export { checkFinality, type Finality, waitForFinality } from "./waitForFinality.ts";
