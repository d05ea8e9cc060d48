import type { Evidence, KeyRecord, MerkleProof, VerifyOptions } from "keyroot";
import type { Bundle } from "keyroot/bundle";
import type { VerificationStep } from "keyroot/errors";
import type { KeyHolder } from "keyroot/safety-code";

/** What the page and its workers say to each other: values that can be cloned. */

/** The options of a verification, without functions. */
export type Options = Pick<
  VerifyOptions,
  | "chainId"
  | "contract"
  | "merkleUrl"
  | "expectedPublicKey"
  | "codeHash"
  | "quorum"
  | "blockHash"
  | "storageProof"
  | "block"
  | "usersSlot"
  | "allowHttp"
> & { rpc: string | string[] };

/** What happens during a verification. `at` is in ms since 1970. */
export type Progress =
  | { kind: "request"; host: string; method: string }
  | { kind: "file"; host: string }
  | { kind: "received"; bytes: number; at: number };

/** An error of the library, or a defect. */
export interface Failure {
  name: string;
  code: string | undefined;
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

/** A path in a tree, and what hangs below its leaf. */
export interface TreePath {
  /** From the leaf to the root, as computed in this browser. Only the root, if the user has no leaf. */
  nodes: readonly PathNode[];
  /** The position of the record in the file. */
  index: number | undefined;
  /** The number of records in the file. Undefined if only a proof is known. */
  leafCount: number | undefined;
  record: KeyRecord | undefined;
  /** The level of the node where a forged file stops being consistent. */
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
      /** The root that the contract has, if the verification came so far. */
      root: string | undefined;
    };

interface VerifyArguments {
  userID: string;
  options: Options;
}

interface BundleArguments {
  bytes: Uint8Array;
  query: Pick<Options, "chainId" | "contract" | "codeHash" | "usersSlot">;
  blockHash: string | undefined;
}

interface BatchArguments {
  root: string;
  merkleUrl: string;
}

/** Two users, each with an id and a public key in base64, and what the contact's app shows, if it was entered. */
interface SafetyCodeArguments {
  mine: KeyHolder;
  contact: KeyHolder;
  shown: string;
}

/** A verified file, packed so that it crosses to the page quickly. */
export interface Batch {
  root: string;
  bytes: number;
  /** The ids of all users in a row, 32 characters each. */
  userIDs: string;
  /** The ids of all keys in a row, 24 characters each. */
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
    /** `failure` without `digits` is about the arguments, with them about what the contact's app shows. */
    result: { digits: string; failure?: Failure | undefined } | { failure: Failure };
  };
  verifyBundle: { arguments: BundleArguments; result: VerificationOutcome & { userID: string | undefined } };
}

export type CallName = keyof WorkerCalls;

/** From the page: a call, or the end of a call. */
export type ToWorker = { id: number; name: CallName; arguments: unknown } | { id: number; abort: true };

/** From a worker: progress, then the result or a defect. */
export type FromWorker =
  { id: number; progress: Progress } | { id: number; result: unknown } | { id: number; defect: string };
