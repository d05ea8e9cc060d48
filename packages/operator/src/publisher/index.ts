// The exports are in the order of the steps in publish.ts.
export { publish } from "./publish.ts";
export { type PublishOptions } from "./publishOptions.ts";
export { type PublishedRoot, type PublishEvent, type PublishResult, type PublishStage } from "./publishEvents.ts";
export { type BadRow, readRecords, type RecordsRead } from "./records/readRecords.ts";
export { RecordTable } from "./records/recordTable.ts";
export { checkUsersPerFile, cutIntoFiles, DEFAULT_USERS_PER_FILE } from "./plan/cutIntoFiles.ts";
export { makePlan, type MakePlanOptions, planTargetOf } from "./plan/makePlan.ts";
export { type Batch, countUsers, packBatch, type Plan, type PlanTarget } from "./plan/plan.ts";
export { parsePlan, serializePlan } from "./plan/planFormat.ts";
export { type CostEstimate, estimateCost } from "./plan/estimateCost.ts";
export { type FetchFile, fetchFromHost, type Finality, isLocalChain, type UserRoot } from "../follow/index.ts";
export { FolderStore } from "./files/folderStore.ts";
export {
  ACCOUNT_FILE_CACHE,
  type AccountFileStore,
  type MerkleFileStore,
  type PutOptions,
  type StoredFile,
} from "./files/merkleFileStore.ts";
export type { BesideFileOptions } from "./files/besideFile.ts";
export { openStore } from "./files/openStore.ts";
export { type KeyDifference, keyDiffers } from "./plan/compareKeys.ts";
export { findStored } from "./files/storeFile.ts";
export { FolderJournal } from "./journal/folderJournal.ts";
export { type Attempt, countKeptAttempts, type Journal, parseAttempt, serializeAttempt } from "./journal/journal.ts";
export { MemoryJournal } from "./journal/memoryJournal.ts";
export { type CostLimits } from "./transactions/costLimits.ts";
export { type SendOptions, type TransactionEvent } from "./transactions/sendOptions.ts";
export { type Execution } from "./safe/awaitExecution.ts";
export { executeBySafe } from "./safe/executeBySafe.ts";
export { USERS_PER_SAFE_TRANSACTION } from "./safe/safeBatchFile.ts";
export { parseAmount } from "./chain/parseAmount.ts";
export { creationCodeOf, deploy, type DeployedRegistry, type DeployOptions } from "./deploy.ts";
export { type AddedRootEvent, type GasEstimate, Registry } from "./chain/registry.ts";
export { endpointSender } from "./signers/endpointSender.ts";
export { openKeyFile, type PassphraseSource } from "./signers/keyFile.ts";
export { openSigner } from "./signers/openSigner.ts";
export { RemoteSigner } from "./signers/remoteSigner.ts";
export {
  type SendTransaction,
  type SignedTransaction,
  type Signer,
  signingSender,
  toTransaction,
  type TransactionRequest,
} from "./signers/signer.ts";
export { type RetryOptions } from "../http/retry.ts";
export { type RpcCall, rpcCaller } from "keyroot/internal/transport";
