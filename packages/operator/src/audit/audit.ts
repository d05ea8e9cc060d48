import { availableParallelism } from "node:os";
import { fetchBlockByHash } from "keyroot/internal/ethereum";
import type { KeyType } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { ArgumentError } from "../errors.ts";
import { checkOptions } from "../checkOptions.ts";
import { auditCursor, auditUserCount, rootsOf } from "./auditChain.ts";
import { AuditState, checkStateKeyType } from "./auditState.ts";
import { auditUsers } from "./auditUsers.ts";
import { checkFileSource, describeFileSource, type FileSource, findStrayFiles } from "./fileSource.ts";
import { FileWorkers } from "./fileWorkers.ts";
import { type Finding, Findings } from "./finding.ts";
import { type DatedRootLog, type History, isOnChain, readHistory, type SavedHistory } from "./history.ts";
import { type AuditPart, checkPart, isInPart, isStrayInPart } from "./part.ts";
import { type AuditedContract, type ContractCounts, readCounts } from "./readCounts.ts";
import { type FileAuditStage, RootFilesAudit, type UnavailableFile } from "./rootFilesAudit.ts";

/** Options of the function `audit`. */
export interface AuditOptions extends AuditedContract {
  /** Sends a JSON-RPC request to the endpoint. `rpcCaller` of `keyroot/transport` makes this function. */
  call: RpcCall;
  files: FileSource;
  /** The type of the registry's keys: a value of `keyroot/key-types`. Default: `curve41417`. */
  keyType?: KeyType | undefined;
  /**
   * The number of threads that audit files. With 0, the calling thread audits the files. Default: one thread per core.
   */
  workers?: number | undefined;
  /**
   * The results of earlier runs. The audit adds the results of this run. The caller must close the state. Default: a
   * state in memory, with about 40 bytes per user.
   */
  state?: AuditState | undefined;
  /**
   * The part of the files to audit, if several machines share the audit. The `part` option needs the `state` option.
   * `mergeParts` merges the states of all parts. Default: all files.
   */
  part?: AuditPart | undefined;
  /** Skips files that an earlier run with this state verified, and counts the skipped files as read. Default: false. */
  skipKnownFiles?: boolean | undefined;
  /** Receives the progress of each stage. The unit is blocks for "reading events", and roots or files for the other stages. */
  onProgress?: ((stage: AuditStage, done: number, total: number) => void) | undefined;
}

const OPTIONS: Record<keyof AuditOptions, true> = {
  ...{ chainId: true, contract: true, codeHash: true, at: true, storageProof: true },
  ...{
    call: true,
    files: true,
    keyType: true,
    workers: true,
    state: true,
    part: true,
    skipKnownFiles: true,
    onProgress: true,
  },
};

/** The stages of an audit, in the order in which they run. */
export type AuditStage = "reading events" | FileAuditStage;

/** The result of an audit. */
export interface AuditReport extends ContractCounts {
  /** All events of the registry, in the chain's order. Each event reports one batch of users. */
  events: readonly DatedRootLog[];
  /** The number of different roots in the events. The report of a part counts only the part's roots. */
  rootCount: number;
  /** The number of roots whose files this run read. An audit passes only if this number equals `rootCount`. */
  filesRead: number;
  /** The number of files that this run counted as read because of `skipKnownFiles`. */
  filesKnown: number;
  /** The number of users in the audited files. A user in two files counts twice. */
  usersInFiles: number;
  findings: Findings;
  /** The files that the host or folder did not return. An audit passes only if this list is empty. */
  unavailableFiles: UnavailableFile[];
  /** True if the audit searched for stray files. The search is possible only in a folder. */
  straysSearched: boolean;
}

/** The verdict of an audit or of one part. `incomplete` means that the run found no damage but did not read all files. */
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
 * Audits a registry at one block. The audit compares the whole history with all Merkle-tree files, in both directions.
 *
 * The audit checks that no event is missing, and that each root has a valid file. Every user in a file must have a
 * root, and every user with a root must be in the root's file. No user may have two keys. The report's `findings`
 * contain the results. docs/auditing.md explains each finding's code. The function throws only if it cannot complete
 * the audit.
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
 * CODE_HASH_MISMATCH, HEADER_INVALID, HEADER_MISMATCH, PROOF_INVALID; TransportError UNREACHABLE, TIMEOUT, RPC_ERROR,
 * RPC_ANSWER_INVALID and the other errors of `call`, FILE_UNREADABLE for a folder, FILE_UNWRITABLE for the state
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  checkOptions("The options of audit", options, OPTIONS);
  const { call, contract, files, state, part, workers = availableParallelism(), skipKnownFiles, onProgress } = options;
  checkFileSource(files);
  if (part !== undefined) checkPart(part);
  if (state === undefined) {
    if (part !== undefined)
      throw new ArgumentError("ARGUMENT_INVALID", "An audit of a part needs a state. Set the option state.");
    using temporary = AuditState.inMemory(options.keyType?.name);
    return await audit({ ...options, state: temporary });
  }
  checkStateKeyType(state.target, options.keyType?.name);
  const counts = await readCounts(call, options, state.cursor);
  const { evidence } = counts;
  const findings = new Findings();
  state.startRun();

  const { number, hash } = evidence.block;
  const { cursor } = state;
  // Another run may have audited a newer block. Keep that run's cursor if the cursor's block is still on the chain.
  const isCursorKept = cursor !== undefined && cursor.number > number && (await isOnChain(call, cursor));
  findings.add(auditCursor(cursor, evidence.block, isCursorKept));
  const { history, miscounted } = await readCountedHistory(options, counts, state);
  const { events } = history;
  findings.add(miscounted);
  findings.add(history.findings);

  const allRoots = rootsOf(events);
  const known = new Set(allRoots.map(({ root }) => root));
  const roots = part === undefined ? allRoots : allRoots.filter(({ root }) => isInPart(root, part));
  const strays = "dir" in files ? await findStrayFiles(files.dir, known) : [];
  // These sources prove only the block. Prove the number of users, all users' roots and the roots' blocks, too. Then a
  // dishonest endpoint cannot hide users, add users or change the order of the roots.
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
    await fileAudit.auditStrayFiles(
      loader,
      strays.filter((name) => part === undefined || isStrayInPart(name, part)),
    );
  }
  // If the run was incomplete or an event is not on the chain, the next run must read all events again.
  const isComplete =
    miscounted.length === 0 &&
    !history.findings.some(({ code }) => code === "LOG_NOT_CANONICAL") &&
    fileAudit.filesRead === roots.length;
  if (isComplete && !isCursorKept) state.recordHistory(evidence.block, events);
  state.save();
  // An audit of one part cannot compare the users of all files. `mergeParts` compares these users.
  if (part === undefined) {
    const usersOf = (root: string) => state.file(root)?.users;
    const rootNames = roots.map(({ root }) => root);
    findings.add(auditUsers({ roots: rootNames, count: fileAudit.userCount, usersOf, others: () => state.others() }));
  }
  findings.sort(roots.map(({ root }) => root));
  const report: AuditReport = {
    ...counts,
    events,
    rootCount: roots.length,
    filesRead: fileAudit.filesRead,
    filesKnown: fileAudit.filesKnown,
    usersInFiles: fileAudit.userCount,
    findings,
    unavailableFiles: fileAudit.unavailableFiles,
    straysSearched: "dir" in files,
  };
  if (part !== undefined && isComplete && !isCursorKept) {
    const { list, count } = findings;
    const endedAt = Math.floor(Date.now() / 1000);
    state.savePartResult({ ...report, part, filesFrom: describeFileSource(files), endedAt, findings: list, count });
  }
  return report;
}

/**
 * Reads the events, and compares the number of users in the events with the contract's user count. If the saved events
 * do not match the count, the function reads all events again.
 */
async function readCountedHistory(
  { call, contract, onProgress }: AuditOptions,
  { evidence: { block }, userCount, deploymentBlock: fromBlock }: ContractCounts,
  { cursor, events: savedEvents }: SavedHistory,
): Promise<{ history: History; miscounted: Finding[] }> {
  const range = { fromBlock, toBlock: block.number };
  const read = (from: SavedHistory) =>
    readHistory(call, contract, range, from, (toBlock) => {
      onProgress?.("reading events", toBlock - fromBlock + 1, block.number - fromBlock + 1);
    });
  let history = await read({ cursor, events: savedEvents });
  let miscounted = auditUserCount(history.events, userCount);
  if (miscounted.length > 0 && savedEvents.length + (cursor?.number ?? 0) > 0) {
    const { findings } = history;
    history = await read({ cursor: undefined, events: [] });
    history.findings.push(...findings.filter(({ code }) => code !== "LOG_NOT_CANONICAL"));
    miscounted = auditUserCount(history.events, userCount);
  }
  return { history, miscounted };
}
