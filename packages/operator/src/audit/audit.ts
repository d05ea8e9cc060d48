import { availableParallelism } from "node:os";
import type { ErrorCode } from "keyroot/errors";
import type { RpcCall } from "keyroot/transport";
import { checkOptions } from "../input/checkOptions.ts";
import { auditUserCount, rootsOf } from "./auditChain.ts";
import { AuditState } from "./auditState.ts";
import { checkFileSource, type FileSource, findStrayFiles } from "./fileSource.ts";
import { FileWorkers } from "./fileWorkers.ts";
import { Findings } from "./finding.ts";
import { type DatedRootLog, readHistory } from "./history.ts";
import { type AuditedContract, type ContractCounts, readCounts } from "./readCounts.ts";
import { RootFilesAudit } from "./rootFilesAudit.ts";

/** Options of `audit`. */
export interface AuditOptions extends AuditedContract {
  /** Sends a JSON-RPC request to the endpoint, as `rpcCaller` of `keyroot/transport` does. */
  call: RpcCall;
  files: FileSource;
  /** The number of threads that audit files; 0 for none but the caller's. Default: one per core. */
  workers?: number | undefined;
  /** What earlier runs saved, and where this one saves. The caller closes it. Default: nothing is saved. */
  state?: AuditState | undefined;
  /** Receives the progress of each stage: blocks for events, roots or files for the others. */
  onProgress?: ((stage: AuditStage, done: number, total: number) => void) | undefined;
}

const OPTIONS: Record<keyof AuditOptions, true> = {
  ...{ chainId: true, contract: true, codeHash: true, at: true, storageProof: true },
  ...{ call: true, files: true, workers: true, state: true, onProgress: true },
};

/** The stages of an audit, in their order. */
export type AuditStage = "reading events" | "reading roots" | "auditing files" | "auditing stray files";

/** The result of an audit. */
export interface AuditReport extends ContractCounts {
  /** All events in the order of the chain. Each is one batch of users. */
  events: readonly DatedRootLog[];
  /** The number of different roots in the events. */
  rootCount: number;
  /** How many roots' files this run has read. It passes only if it has read all of them: see `rootCount`. */
  filesRead: number;
  /** The number of users in the files that were audited. A user in two files counts twice. */
  usersInFiles: number;
  findings: Findings;
  /** Files that their host or folder did not return. Nothing is known about them, so the audit has not passed. */
  unavailableFiles: { root: string; code: ErrorCode; message: string }[];
  /** Whether stray files were looked for, which takes a folder. */
  straysSearched: boolean;
}

/** What an audit comes to: `incomplete` if this run could not read every file, and nothing else is wrong. */
export type AuditVerdict = "passed" | "damage" | "incomplete";

/** The verdict on a report. */
export function verdictOf({
  findings,
  filesRead,
  rootCount,
}: Pick<AuditReport, "findings" | "filesRead" | "rootCount">): AuditVerdict {
  return findings.count.damage > 0 ? "damage" : filesRead < rootCount ? "incomplete" : "passed";
}

/**
 * Audits a registry as of one block: its whole history against all its Merkle-tree files, in both directions.
 *
 * It checks that no event is missing, that each root has a valid file, that every user of a file has a root, that no
 * user has a root without being in its file, and that no user has two keys. What it finds is in `findings`;
 * docs/auditing.md explains each code. It throws only if it cannot audit at all.
 *
 * @example
 * ```ts
 * import { audit, verdictOf } from "@keyroot/operator/audit";
 * import { rpcCaller } from "keyroot/transport";
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
 * @throws VerificationError CHAIN_ID_MISMATCH, NO_CONTRACT, NO_USER_COUNT, CODE_HASH_MISMATCH, HEADER_INVALID, HEADER_MISMATCH,
 * PROOF_INVALID; TransportError UNREACHABLE, TIMEOUT, RPC_ERROR, RPC_ANSWER_INVALID and the others of `call`,
 * FILE_UNREADABLE for a folder, FILE_UNWRITABLE for the state
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  checkOptions("The options of audit", options, OPTIONS);
  const { call, contract, files, state, workers = availableParallelism(), onProgress } = options;
  checkFileSource(files);
  if (state === undefined) {
    using temporary = AuditState.inMemory();
    return await audit({ ...options, state: temporary });
  }
  const counts = await readCounts(call, options);
  const { evidence, userCount, deploymentBlock } = counts;
  const findings = new Findings();

  const { number, hash } = evidence.block;
  const range = { fromBlock: deploymentBlock, toBlock: number };
  const history = await readHistory(call, contract, range, state, (toBlock) => {
    onProgress?.("reading events", toBlock - deploymentBlock + 1, number - deploymentBlock + 1);
  });
  const { events } = history;
  const miscounted = auditUserCount(events, userCount);
  findings.add(miscounted);
  findings.add(history.findings);

  const roots = rootsOf(events);
  const strays = "dir" in files ? await findStrayFiles(files.dir, new Set(roots.map(({ root }) => root))) : [];
  const fileAudit = new RootFilesAudit({ call, contract, blockHash: hash, state, roots, findings, onProgress });
  await fileAudit.auditBlockNumbers();
  await using loader = new FileWorkers(files, workers);
  await fileAudit.auditFiles(loader);
  await fileAudit.auditStrayFiles(loader, strays);
  // If events are missing or false, or this run was incomplete, the next one reads them again.
  const isComplete = miscounted.length === 0 && !history.findings.some(({ code }) => code === "LOG_NOT_CANONICAL");
  if (isComplete && fileAudit.filesRead === roots.length) state.recordHistory({ number, hash }, events);
  fileAudit.auditUsers();
  findings.sort(roots.map(({ root }) => root));
  state.save();
  return {
    ...counts,
    events,
    rootCount: roots.length,
    filesRead: fileAudit.filesRead,
    usersInFiles: fileAudit.userCount,
    findings,
    unavailableFiles: fileAudit.unavailableFiles,
    straysSearched: "dir" in files,
  };
}
