import { availableParallelism } from "node:os";
import { fetchBlockByHash } from "keyroot/internal/ethereum";
import type { KeyType } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { checkOptions } from "../checkOptions.ts";
import type { RetryOptions } from "../http/retry.ts";
import { nodeAnswerTo } from "../rpc/nodeAnswers.ts";
import { readUntil, repeatingCaller } from "../rpc/repeatReads.ts";
import { auditCursor, auditHistory, auditUserCount, rootsOf } from "./auditChain.ts";
import { AuditState, checkStateKeyType } from "./auditState.ts";
import { auditAccounts } from "./auditAccounts.ts";
import { auditUsers } from "./auditUsers.ts";
import {
  type AuditedContract,
  checkFileSource,
  type ContractCounts,
  type DatedRootLog,
  type FileSource,
  findStrayFiles,
  type History,
  isOnChain,
  readCounts,
  readHistory,
  type SavedHistory,
} from "../follow/index.ts";
import { FileWorkers } from "./fileWorkers.ts";
import { type Finding, Findings } from "./finding.ts";
import { type FileAuditStage, RootFilesAudit, type UnavailableFile } from "./rootFilesAudit.ts";

/** Options of the function `audit`. */
export interface AuditOptions extends AuditedContract {
  /** Sends a JSON-RPC request to the endpoint, as the function that `rpcCaller` of `keyroot/transport` creates does. */
  call: RpcCall;
  files: FileSource;
  /** The type of the registry's keys: a value of `keyroot/key-types`. Default: `curve41417`. */
  keyType?: KeyType | undefined;
  /**
   * The number of threads that audit files. With 0, the files are audited in the calling thread. Default: one thread
   * per core.
   */
  workers?: number | undefined;
  /**
   * The results of earlier audits, to which this audit adds its own results. The caller closes the state. Default: a
   * state in memory, which takes about 40 bytes per user.
   */
  state?: AuditState | undefined;
  /**
   * How often to repeat a read after a temporary failure, or after a finding that a lagging node may have caused.
   * Default: 5 retries, the first after 500 ms.
   */
  retry?: RetryOptions | undefined;
  /** Skips files that an earlier run with this state verified, and counts the skipped files as read. Default: false. */
  skipKnownFiles?: boolean | undefined;
  /**
   * Also compares every record in the Merkle-tree files with the account files beside them (docs/accounts.md). This
   * takes about 300 bytes of memory per user. Default: false, for a registry without accounts.
   */
  accounts?: boolean | undefined;
  /**
   * Receives the progress of each stage. `done` and `total` count blocks while events are read, and roots or files in
   * the other stages.
   */
  onProgress?: ((stage: AuditStage, done: number, total: number) => void) | undefined;
}

const OPTIONS: Record<keyof AuditOptions, true> = {
  ...{ chainId: true, contract: true, codeHash: true, at: true, storageProof: true },
  ...{ call: true, files: true, keyType: true, workers: true, state: true },
  ...{ retry: true, skipKnownFiles: true, accounts: true, onProgress: true },
};

/** The stages of an audit, in the order in which they run. */
export type AuditStage = "reading events" | FileAuditStage | "auditing accounts";

/** The result of an audit. */
export interface AuditReport extends ContractCounts {
  /** All events of the registry, in the chain's order, each of which reports one batch of users. */
  events: readonly DatedRootLog[];
  /** The number of different roots in the events. */
  rootCount: number;
  /** The number of roots whose files this run read. An audit passes only if this number equals `rootCount`. */
  filesRead: number;
  /** The number of files that this run counted as read because of `skipKnownFiles`. */
  filesKnown: number;
  /** The number of users in the audited files. A user in two files is counted twice. */
  usersInFiles: number;
  findings: Findings;
  /** The files that the host or folder did not return. An audit passes only if this list is empty. */
  unavailableFiles: UnavailableFile[];
  /** The number of accounts, and of keys after the first one of their account. Undefined without `accounts`. */
  accounts?: { accounts: number; changes: number } | undefined;
  /** True if the audit searched for stray files. The search is possible only in a folder. */
  straysSearched: boolean;
}

/** The verdict of an audit. `incomplete` means that the run found no damage but did not read all files. */
export type AuditVerdict = "passed" | "damage" | "incomplete";

/** Returns the verdict for a report. */
export function verdictOf({
  findings,
  filesRead,
  rootCount,
}: Pick<AuditReport, "findings" | "filesRead" | "rootCount">): AuditVerdict {
  return findings.count.damage > 0 ? "damage" : filesRead < rootCount ? "incomplete" : "passed";
}

/**
 * Audits a registry at one block, comparing its whole history with all Merkle-tree files in both directions.
 *
 * It checks that no event is missing, and that each root has a valid file. Every user in a file must have a root, and
 * the file of a user's root must contain the user. No user may have two keys.
 *
 * All problems are in the report's `findings`, with codes that docs/auditing.md explains. The function throws only if
 * it cannot complete the audit.
 *
 * @example
 * ```ts
 * import { audit, verdictOf } from "@keyroot/operator/audit";
 * import { rpcCaller } from "keyroot/internal/transport";
 *
 * const report = await audit({
 *   call: rpcCaller("https://rpc.example", { maxBytes: 2 ** 24, timeoutMs: 30_000 }),
 *   chainId: 1,
 *   contract: "0x1234567890abcdef1234567890abcdef12345678",
 *   at: "finalized",
 *   files: { merkleUrl: "https://keys.example/merkle", maxBytes: 2 ** 24, timeoutMs: 30_000 },
 * });
 * console.log(verdictOf(report)); // "passed", "damage" or "incomplete"
 * for (const { severity, code, message } of report.findings.list) console.log(severity, code, message);
 * ```
 * @throws ArgumentError ARGUMENT_INVALID; VerificationError CHAIN_ID_MISMATCH, NO_CONTRACT, NO_USER_COUNT,
 *   CODE_HASH_MISMATCH, HEADER_INVALID, HEADER_MISMATCH, PROOF_INVALID; TransportError UNREACHABLE, TIMEOUT, RPC_ERROR,
 *   RPC_ANSWER_INVALID and the other errors of `call`, FILE_UNREADABLE for a folder, FILE_UNWRITABLE for the state
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  checkOptions("The options of audit", options, OPTIONS);
  const { files, state, at = "latest", retry } = options;
  checkFileSource(files);
  if (state === undefined) {
    using temporary = AuditState.inMemory(options.keyType?.name);
    return await audit({ ...options, state: temporary });
  }
  checkStateKeyType(state.target, options.keyType?.name);
  const repeating = { ...options, call: repeatingCaller(options.call, retry), state };
  for (let moved = 0; ; moved++) {
    try {
      return await auditOnce(repeating);
    } catch (error) {
      // Most nodes delete a block's state after a while, and a long audit may still need it. The audit then starts
      // again at a newer block, and the saved audit state keeps the files that were verified so far.
      const isPruned = nodeAnswerTo(error, "").means === "state pruned";
      if (!isPruned || typeof at !== "string" || moved === MAX_MOVES) throw error;
    }
  }
}

/** How often an audit may start again at a newer block because the node has deleted the state of the earlier block. */
const MAX_MOVES = 3;

type RunningAudit = AuditOptions & { state: AuditState };

/** What an audit reads about the chain's history. */
interface ChainReading {
  counts: ContractCounts;
  history: History;
  isCursorKept: boolean;
  /** Missing or excess users in the events. */
  miscounted: Finding[];
  findings: Finding[];
}

/**
 * Reads the registry's counts and history at one block. If the counts and the history contradict each other, both are
 * read again, because a lagging node may have answered one of the requests.
 */
function readChain(options: RunningAudit): Promise<ChainReading> {
  const read = async (): Promise<ChainReading> => {
    const { call, state, retry } = options;
    const counts = await readCounts(call, options, state.cursor, retry);
    state.startRun();
    const { block } = counts.evidence;
    const { cursor } = state;
    // Meanwhile, another run may have audited a newer block. If that block is still on the chain, the state keeps it as
    // its cursor.
    const isCursorKept = cursor !== undefined && cursor.number > block.number && (await isOnChain(call, cursor));
    const { history, miscounted, faults } = await readCountedHistory(options, counts, state);
    const findings = [...auditCursor(cursor, block, isCursorKept), ...miscounted, ...faults];
    return { counts, history, isCursorKept, miscounted, findings };
  };
  return readUntil(({ findings }) => findings.every(({ severity }) => severity !== "damage"), read, options.retry);
}

async function auditOnce(options: RunningAudit): Promise<AuditReport> {
  const { call, contract, files, state, workers = availableParallelism(), skipKnownFiles, onProgress } = options;
  const { counts, history, isCursorKept, miscounted, findings: found } = await readChain(options);
  const { evidence } = counts;
  const { hash } = evidence.block;
  const { events } = history;
  const findings = new Findings();
  findings.add(found);

  const roots = rootsOf(events);
  const known = new Set(roots.map(({ root }) => root));
  const strays = "dir" in files ? await findStrayFiles(files.dir, known) : [];
  // These sources prove only which block is genuine. The number of users, their roots and the roots' block numbers
  // therefore need storage proofs. Otherwise a dishonest endpoint could hide or add users, or change the order of the
  // roots.
  const provesOnlyBlock = ["light-client", "pinned-block", "auditors"].includes(evidence.source);
  const provenUnder = provesOnlyBlock && evidence.storageProof ? await fetchBlockByHash(call, hash) : undefined;
  const fileAudit = new RootFilesAudit({
    ...{ provenUnder, call, contract, blockHash: hash, state, skipKnownFiles, roots, findings, onProgress },
    isKnownRoot: (root) => known.has(root),
  });
  await fileAudit.auditBlockNumbers();
  {
    await using loader = new FileWorkers(files, workers, options.keyType);
    await fileAudit.auditFiles(loader);
    await fileAudit.auditStrayFiles(loader, strays);
  }
  // If the run was incomplete or an event is not on the chain, the next run must read all events again.
  const isComplete = miscounted.length === 0 && history.misplaced.length === 0 && fileAudit.filesRead === roots.length;
  if (isComplete && !isCursorKept) state.recordHistory(evidence.block, events);
  state.save();
  const usersOf = (root: string) => state.file(root)?.users;
  const rootNames = roots.map(({ root }) => root);
  // A user has one root, so a user in several files does not have the root of each.
  if (fileAudit.withoutRoot > 0 || fileAudit.filesRead < roots.length)
    findings.add(auditUsers({ roots: rootNames, usersOf, others: () => state.others() }));
  const accounts = options.accounts === true ? await auditRecords(options, rootNames) : undefined;
  if (accounts !== undefined) findings.add(accounts.findings);
  findings.sort(rootNames);
  return {
    ...counts,
    events,
    rootCount: roots.length,
    filesRead: fileAudit.filesRead,
    filesKnown: fileAudit.filesKnown,
    usersInFiles: fileAudit.userCount,
    findings,
    unavailableFiles: fileAudit.unavailableFiles,
    ...(accounts && { accounts: { accounts: accounts.accounts, changes: accounts.changes } }),
    straysSearched: "dir" in files,
  };
}

/** Compares the records in valid files with the account files. */
function auditRecords(
  { state, chainId, contract, files, keyType, onProgress }: RunningAudit,
  roots: readonly string[],
) {
  const valid = roots.filter((root) => state.file(root)?.users !== undefined);
  return auditAccounts({
    ...{ chainId, contract, files, keyType, roots: valid },
    onProgress: (done, total) => onProgress?.("auditing accounts", done, total),
  });
}

/**
 * Reads the events, and checks that they contain as many users as the contract counts. If the numbers differ and some
 * of the events were saved by an earlier run, all events are read again.
 */
async function readCountedHistory(
  { call, contract, retry, onProgress }: AuditOptions,
  { evidence: { block }, userCount, deploymentBlock: fromBlock }: ContractCounts,
  { cursor, events: savedEvents }: SavedHistory,
): Promise<{ history: History; miscounted: Finding[]; faults: Finding[] }> {
  const range = { fromBlock, toBlock: block.number };
  const read = (from: SavedHistory) =>
    readHistory(
      call,
      contract,
      range,
      from,
      (toBlock) => {
        onProgress?.("reading events", toBlock - fromBlock + 1, block.number - fromBlock + 1);
      },
      retry,
    );
  let history = await read({ cursor, events: savedEvents });
  let miscounted = auditUserCount(history.events, userCount);
  const faults = auditHistory(history);
  if (miscounted.length > 0 && savedEvents.length + (cursor?.number ?? 0) > 0) {
    const removed = auditHistory({ ...history, misplaced: [] });
    history = await read({ cursor: undefined, events: [] });
    faults.splice(0, Infinity, ...auditHistory(history), ...removed);
    miscounted = auditUserCount(history.events, userCount);
  }
  return { history, miscounted, faults };
}
