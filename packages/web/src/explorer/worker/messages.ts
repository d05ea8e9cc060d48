import type { ExplorerConfig } from "@keyroot/operator/explorer";
import type { Evidence, KeyRecord, MerkleProof, VerifyOptions } from "keyroot";
import type { Bundle } from "keyroot/bundle";
import type { Advice, VerificationStep } from "keyroot/errors";
import type { KeyHolder } from "keyroot/safety-code";

/** The messages between the page and its workers. All values can be cloned. */

/** The options of a verification, without functions. */
export type Options = Pick<
  VerifyOptions,
  | "chainId"
  | "contract"
  | "merkleUrl"
  | "codeHash"
  | "quorum"
  | "pinned"
  | "storageProof"
  | "block"
  | "usersSlot"
  | "allowHttp"
  | "verifiedBefore"
> & {
  rpc: string | string[];
  /** The key to compare, in base64. Without it, any published key is shown. */
  expectedPublicKey?: string | undefined;
} & Pick<ExplorerConfig, "auditors" | "beacon">;

/** The progress of a verification. `at` is in ms since 1970. */
export type Progress =
  | { kind: "request"; host: string; method: string }
  | { kind: "file"; host: string }
  | { kind: "received"; bytes: number; at: number };

/** A Keyroot error as a value that can be cloned. */
export interface Failure {
  name: string;
  code: string | undefined;
  advice: Advice;
  message: string;
  step: VerificationStep | undefined;
  evidence: Evidence | undefined;
  expected: string | number | undefined;
  actual: string | number | undefined;
}

/** A node on the way from a leaf to the root. */
export interface PathNode {
  hash: string;
  /** The other child of its parent. Undefined for the root. */
  sibling: { side: "left" | "right"; hash: string; isSelf: boolean } | undefined;
}

/** A path in a tree, with the record of its leaf. */
export interface TreePath {
  /** From the leaf to the root, as this browser computed them. Only the root if the user has no leaf. */
  nodes: readonly PathNode[];
  /** The position of the record in the file. */
  index: number | undefined;
  /** The number of records in the file. Undefined if only a proof is known. */
  leafCount: number | undefined;
  record: KeyRecord | undefined;
  /** Lowest level at which a forged file contradicts itself. */
  failedLevel?: number | undefined;
}

/** A verified key, its path and its proof. */
export interface VerifiedResult {
  record: KeyRecord;
  root: string;
  blockNumber: number | undefined;
  evidence: Evidence;
  uniqueness: "checked" | "unchecked";
  path: TreePath;
  proof: MerkleProof;
}

export type VerificationOutcome =
  | { verified: VerifiedResult }
  | {
      failure: Failure;
      /** The path in the file as it was received, for the drawing. It proves nothing. */
      path: TreePath | undefined;
      /** The contract's root, if the verification read it. */
      root: string | undefined;
    };

interface VerifyArguments {
  userID: string;
  options: Options;
}

interface BundleArguments {
  bytes: Uint8Array;
  query: Pick<Options, "chainId" | "contract" | "codeHash" | "usersSlot">;
  pinned: string | undefined;
}

interface BatchArguments {
  root: string;
  /** The folder of the file, or the content of a file that the visitor chose. */
  source: { merkleUrl: string } | { bytes: Uint8Array };
}

interface RegistryArguments {
  /** The URLs of endpoints, at least one. */
  rpc: readonly string[];
  contract: string;
  codeHash: string | undefined;
  allowHttp: boolean | undefined;
}

/** The registry at one block. */
export interface RegistryFacts {
  /** `timestamp` in seconds since 1970. */
  block: { number: number; hash: string; timestamp: number };
  owner: string;
  users: number;
  /** Whether the contract's code has the configured hash. `unchecked` if none is configured. */
  code: "unchecked" | "expected" | "different";
  /** The number of endpoints that gave these answers about this block, the first included. */
  agreeing: number;
}

/** An event of the registry: a root was added for some users. */
export interface RootAdded {
  root: string;
  addedCount: number;
  blockNumber: number;
}

/** Two users with their ids and public keys in base64. `shown` is the entered code of the contact's app, or empty. */
interface SafetyCodeArguments {
  mine: KeyHolder;
  contact: KeyHolder;
  shown: string;
}

/** A verified file, packed for fast transfer to the page. */
export interface Batch {
  root: string;
  bytes: number;
  /** All user ids concatenated, 32 characters each. */
  userIDs: string;
  /** All key ids concatenated, 24 characters each. */
  keyIDs: string;
  /** The hashes of each level, 32 bytes each, the leaves first. */
  levels: readonly Uint8Array[];
}

/** The calls that the workers answer. */
export interface WorkerCalls {
  verify: { arguments: VerifyArguments; result: VerificationOutcome };
  openBatch: { arguments: BatchArguments; result: { batch: Batch } | { failure: Failure } };
  makeBundle: { arguments: VerifyArguments; result: { bundle: Bundle } | { failure: Failure } };
  safetyCode: {
    arguments: SafetyCodeArguments;
    /** With `digits`, `failure` concerns `shown`. Without them, it concerns the two users. */
    result: { digits: string; failure?: Failure | undefined } | { failure: Failure };
  };
  readRegistry: {
    arguments: RegistryArguments;
    /** `recent` has the newest events first. `isWhole`: these are all events since the first block. */
    result: { facts: RegistryFacts; recent: RootAdded[]; isWhole: boolean } | { failure: Failure };
  };
  verifyBundle: { arguments: BundleArguments; result: VerificationOutcome & { userID: string | undefined } };
}

export type CallName = keyof WorkerCalls;

/** A message from the page: a call, or its cancellation. */
export type ToWorker = { id: number; name: CallName; arguments: unknown } | { id: number; abort: true };

/** A message from a worker: progress, then a result or a defect. */
export type FromWorker =
  { id: number; progress: Progress } | { id: number; result: unknown } | { id: number; defect: string };
