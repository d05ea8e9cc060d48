import type { ExplorerConfig } from "@keyroot/operator/explorer";
import type { Evidence, KeyRecord, UserID, VerifierOptions } from "keyroot";
import type { RecoveryKeyType } from "keyroot/account";
import type { KeyTypeName } from "keyroot/key-types";
import type { MerkleProof } from "keyroot/merkle";
import type { Bundle } from "keyroot/bundle";
import type { Advice, VerificationStep } from "keyroot/internal/errors";
import type { AccountHolder, KeyHolder } from "keyroot/safety-code";

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
  /** Whether all user ids are account ids. */
  accounts?: boolean | undefined;
  /** The expected key in base64. If undefined, the verifier accepts any published key. */
  expectedPublicKey?: string | undefined;
};

/** The progress of a verification. `at` is the time in ms since 1970. */
export type Progress =
  | { kind: "request"; host: string; method: string }
  | { kind: "file"; host: string }
  | { kind: "received"; bytes: number; at: number }
  | { kind: "contacts"; results: ContactResult[] }
  | { kind: "contact"; index: number; result: ContactResult };

/**
 * What was found about a contact of a list:
 * - `same` and `different`: the list's key is or is not the published one
 * - `published`: there is a published key, but the list has no key to compare
 * - `absent`: there is no published key
 * - `rejected`: the verification failed
 * - `open`: the verification could not be finished
 * - `unreadable`: the user id, key or key id in the row is malformed
 */
export type ContactVerdict =
  "waiting" | "same" | "different" | "published" | "absent" | "rejected" | "open" | "unreadable";

/** A row of a contact list with its verdict. */
export interface ContactResult {
  userID: string;
  verdict: ContactVerdict;
  /** The id of the published key. */
  keyID?: string | undefined;
  /** The number of the key in the user's account. */
  number?: number | undefined;
  evidence?: Evidence | undefined;
  /** Undefined for a row that is `unreadable`. */
  failure?: Failure | undefined;
  /** What is wrong with a row that is `unreadable`. */
  problem?: string | undefined;
}

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
   * The nodes from the leaf to the root. This browser computed their hashes. If the user has no leaf, the list contains
   * only the root.
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

/** A slot of an account, with what the account file says about it. */
export interface AccountSlot {
  number: number;
  userID: UserID;
  /** Undefined if the file has no statement for the slot: readers need only the newest ones. */
  statement?: { isVoid: boolean; signers: readonly { keyNumber: number; type: RecoveryKeyType }[] } | undefined;
}

/** A user's account, of which the newest key is verified. */
export interface AccountHistory {
  /** The account file, as the file host sent it. */
  file: string;
  /** The number of the verified key. */
  number: number;
  keyCount: number;
  threshold: number;
  /** The newest slots, of which the last one has the highest number. The slot after them is empty. */
  slots: readonly AccountSlot[];
}

/** When a slot's root was added, as one endpoint says. */
export interface SlotFacts {
  root: string;
  blockNumber: number;
  /** Seconds since 1970. */
  timestamp: number;
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
  /** The user's account, if the registry has accounts. */
  account: AccountHistory | undefined;
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

interface SlotsArguments {
  userIDs: readonly UserID[];
  options: Options;
}

interface BundleArguments {
  bytes: Uint8Array;
  query: Pick<Options, "chainId" | "contract" | "codeHash" | "keyType" | "accounts">;
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

/** Two users. `shown` is the contact app's code that was entered, or empty. */
type SafetyCodeArguments = { shown: string; keyType: KeyTypeName | undefined } & (
  { mine: KeyHolder; contact: KeyHolder } | { mine: AccountHolder; contact: AccountHolder }
);

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

interface ListArguments {
  /** The content of the contact list. */
  bytes: Uint8Array;
  options: Options;
}

export interface WorkerCalls {
  verify: { arguments: VerifyArguments; result: VerificationOutcome };
  /** `problem` says why the list cannot be read. */
  verifyList: { arguments: ListArguments; result: { results: ContactResult[] } | { problem: string } };
  /** `failure` is undefined if the verifier accepts the key. */
  runAttack: { arguments: VerifyArguments; result: { failure: Failure | undefined } };
  /** The facts about each slot, or undefined for a slot without a root. */
  readSlots: { arguments: SlotsArguments; result: { facts: (SlotFacts | undefined)[] } | { failure: Failure } };
  openBatch: { arguments: BatchArguments; result: { batch: Batch } | { failure: Failure } };
  makeBundle: { arguments: VerifyArguments; result: { bundle: Bundle } | { failure: Failure } };
  /** The rows of a text's QR code, with 1 for a dark module. */
  drawQr: { arguments: string; result: string[] };
  /** The text of the QR code in a picture. Undefined if it has none. */
  readQr: { arguments: ImageBitmap; result: string | undefined };
  safetyCode: {
    arguments: SafetyCodeArguments;
    /**
     * If `digits` is set, `failure` is the error of the comparison with `shown`. Otherwise, `failure` is the reason why
     * no safety code could be made.
     */
    result: { digits: string; payload: string; failure?: Failure | undefined } | { failure: Failure };
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
