import type { ExplorerConfig } from "@keyroot/operator/explorer";
import type { Evidence, KeyRecord, VerifierOptions } from "keyroot";
import type { KeyTypeName } from "keyroot/key-types";
import type { MerkleProof } from "keyroot/merkle";
import type { Bundle } from "keyroot/bundle";
import type { Advice, VerificationStep } from "keyroot/internal/errors";
import type { KeyHolder } from "keyroot/safety-code";

/** The messages between the page and the page's workers. All values can be cloned. */

/** What a verification trusts for the block, with the names that evidence uses. */
export type TrustChoice =
  | { name: "one-endpoint" }
  | { name: "endpoints"; required: number }
  | { name: "pinned-block"; hash: string }
  | { name: "light-client"; settings: NonNullable<ExplorerConfig["lightClient"]> }
  | { name: "auditors"; settings: NonNullable<ExplorerConfig["auditors"]> };

/** The options of a verification. They contain no functions, so messages can contain them. */
export type Options = Pick<VerifierOptions, "chainId" | "contract" | "merkleUrl" | "codeHash" | "allowHttp"> & {
  rpc: string | string[];
  trust: TrustChoice;
  keyType?: KeyTypeName | undefined;
  /** The expected key in base64. If undefined, the verifier accepts any published key. */
  expectedPublicKey?: string | undefined;
};

/** The progress of a verification. `at` is the time in ms since 1970. */
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

/** A node on the path from a leaf to the root. */
export interface PathNode {
  hash: string;
  /** The other child of this node's parent. Undefined for the root. */
  sibling: { side: "left" | "right"; hash: string; isSelf: boolean } | undefined;
}

/** A path in a tree, with the leaf's record. */
export interface TreePath {
  /**
   * The nodes from the leaf to the root, with hashes that this browser computed. Contains only the root if the user has
   * no leaf.
   */
  nodes: readonly PathNode[];
  /** The record's position in the file. */
  index: number | undefined;
  /** Number of records in the file. Undefined if only a proof is known. */
  leafCount: number | undefined;
  record: KeyRecord | undefined;
  /** The lowest level at which a forged file contradicts itself. */
  failedLevel?: number | undefined;
}

/** A verified key, with the key's path and proof. */
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
      /** The path in the received file, for the drawing. The path proves nothing. */
      path: TreePath | undefined;
      /** The user's root in the contract. Undefined if the verification did not read a root. */
      root: string | undefined;
    };

interface VerifyArguments {
  userID: string;
  options: Options;
}

interface BundleArguments {
  bytes: Uint8Array;
  query: Pick<Options, "chainId" | "contract" | "codeHash" | "keyType">;
  pinned: string | undefined;
}

interface BatchArguments {
  root: string;
  /** The folder that contains the file, or the content of a file that the visitor chose. */
  source: { merkleUrl: string } | { bytes: Uint8Array };
  keyType: KeyTypeName | undefined;
}

interface RegistryArguments {
  /** The URLs of one or more endpoints. */
  rpc: readonly string[];
  contract: string;
  codeHash: string | undefined;
  allowHttp: boolean | undefined;
}

/** The state of the registry at one block. */
export interface RegistryFacts {
  /** The block. `timestamp` is in seconds since 1970. */
  block: { number: number; hash: string; timestamp: number };
  owner: string;
  users: number;
  /** Whether the contract's code has the configured hash. `unchecked` if no hash is configured. */
  code: "unchecked" | "expected" | "different";
  /** Number of endpoints with the same answers about this block. Includes the first endpoint. */
  agreeing: number;
}

/** An event of the registry: some users got a root. */
export interface RootAdded {
  root: string;
  addedCount: number;
  blockNumber: number;
}

/** Two users' ids and public keys in base64. `shown` is the contact app's code that was entered, or empty. */
interface SafetyCodeArguments {
  mine: KeyHolder;
  contact: KeyHolder;
  shown: string;
  keyType: KeyTypeName | undefined;
}

/** A verified file, packed for fast transfer to the page. */
export interface Batch {
  root: string;
  bytes: number;
  /** All user ids, concatenated. Each user id has 32 characters. */
  userIDs: string;
  /** All key ids, concatenated. Each key id has 24 characters. */
  keyIDs: string;
  /** The hashes of each level, leaves first. Each hash has 32 bytes. */
  levels: readonly Uint8Array[];
}

interface AttackArguments extends VerifyArguments {
  /** Whether all user ids of the registry are accounts. */
  hasAccounts: boolean;
}

export interface WorkerCalls {
  verify: { arguments: VerifyArguments; result: VerificationOutcome };
  /** `failure` is undefined if the verifier accepts the key. */
  runAttack: { arguments: AttackArguments; result: { failure: Failure | undefined } };
  openBatch: { arguments: BatchArguments; result: { batch: Batch } | { failure: Failure } };
  makeBundle: { arguments: VerifyArguments; result: { bundle: Bundle } | { failure: Failure } };
  safetyCode: {
    arguments: SafetyCodeArguments;
    /**
     * With `digits`, `failure` is the error of the comparison with `shown`. Without `digits`, `failure` is the reason
     * why the safety code could not be made.
     */
    result: { digits: string; failure?: Failure | undefined } | { failure: Failure };
  };
  readRegistry: {
    arguments: RegistryArguments;
    /**
     * `recent` contains the newest events first. `isWhole` is true if `recent` contains all events since the first
     * block.
     */
    result: { facts: RegistryFacts; recent: RootAdded[]; isWhole: boolean } | { failure: Failure };
  };
  verifyBundle: { arguments: BundleArguments; result: VerificationOutcome & { userID: string | undefined } };
}

export type CallName = keyof WorkerCalls;

/** A message from the page: a call, or the cancellation of a call. */
export type ToWorker = { id: number; name: CallName; arguments: unknown } | { id: number; abort: true };

/** A message from a worker: progress, a result, or an unexpected error. */
export type FromWorker =
  { id: number; progress: Progress } | { id: number; result: unknown } | { id: number; defect: string };
