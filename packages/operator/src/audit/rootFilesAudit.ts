import pMap from "p-map";
import { fetchBlockNumber } from "keyroot/internal/registry";
import type { BlockHeader } from "keyroot/internal/ethereum";
import type { UserID } from "keyroot/internal/identity";
import { basename } from "node:path";
import { rootOfFileName } from "keyroot/internal/merkle";
import type { RpcCall } from "keyroot/internal/transport";
import { auditBlockNumber, type RootHistory } from "./auditChain.ts";
import { userIDsIn } from "./auditFile.ts";
import { proveBlockNumber, proveRoots, readRoots } from "../follow/index.ts";
import type { AuditState } from "./auditState.ts";
import { auditRoot } from "./auditRoot.ts";
import type { FileWorkers } from "./fileWorkers.ts";
import { type Finding, finding, type Findings } from "./finding.ts";
import type { FileResult } from "./loadFile.ts";

/** The maximum number of concurrent JSON-RPC requests of one kind. */
const CONCURRENT_CALLS = 8;
/** The number of unavailable files after which the audit requests no more files. */
const MAX_UNAVAILABLE = 8;
const SAVE_INTERVAL_MS = 3_000;

/** The stages of an audit that read roots and files, in the order in which they run. */
export type FileAuditStage = "reading roots" | "auditing files" | "auditing stray files";

/** A file that the host or folder did not return. */
export interface UnavailableFile {
  /** The root of the file: 64 lowercase hex digits. */
  root: string;
  code: string;
  message: string;
}

interface RootFilesAuditOptions {
  call: RpcCall;
  contract: string;
  /** The hash of the block at which the audit reads users' roots. */
  blockHash: string;
  /**
   * The block for storage proofs of users' roots and of the roots' block numbers. If `provenUnder` is undefined, the
   * audit reads the roots and the block numbers without proofs.
   */
  provenUnder?: BlockHeader | undefined;
  state: AuditState;
  /** Does not read files that an earlier run verified. */
  skipKnownFiles?: boolean | undefined;
  /** The roots whose files are audited. */
  roots: readonly RootHistory[];
  isKnownRoot: (root: string) => boolean;
  findings: Findings;
  onProgress?: ((stage: FileAuditStage, done: number, total: number) => void) | undefined;
}

/** Compares the files of all roots with the chain. */
export class RootFilesAudit {
  readonly unavailableFiles: UnavailableFile[] = [];
  /** The number of roots whose files this run has read, skipped or found to be missing. */
  filesRead = 0;
  /** The number of files that this run skipped because an earlier run verified the files. */
  filesKnown = 0;
  /** The number of users in the audited files. */
  userCount = 0;
  readonly #options: RootFilesAuditOptions;

  constructor(options: RootFilesAuditOptions) {
    this.#options = options;
  }

  /** Compares the contract's block for each root with the block of the root's first event. */
  async auditBlockNumbers(): Promise<void> {
    const { call, contract, blockHash, provenUnder, roots, findings, onProgress } = this.#options;
    let done = 0;
    const audit = async (history: RootHistory) => {
      const recorded = await (provenUnder === undefined
        ? fetchBlockNumber(call, contract, history.root, { blockHash })
        : proveBlockNumber(call, contract, history.root, provenUnder));
      findings.add(auditBlockNumber(history, recorded));
      onProgress?.("reading roots", ++done, roots.length);
    };
    await pMap(roots, audit, { concurrency: CONCURRENT_CALLS });
  }

  /** Audits every root's file, and reads the roots of all users in the files. */
  async auditFiles(workers: FileWorkers): Promise<void> {
    const { state, roots, onProgress } = this.#options;
    const errors: unknown[] = [];
    let done = 0;
    let savedAt = performance.now();
    const audit = async (history: RootHistory) => {
      if (errors.length > 0 || this.unavailableFiles.length >= MAX_UNAVAILABLE) return;
      try {
        await this.#auditFile(history, workers);
        onProgress?.("auditing files", ++done, roots.length);
        if (performance.now() - savedAt < SAVE_INTERVAL_MS) return;
        savedAt = performance.now();
        state.save();
      } catch (error) {
        errors.push(error);
      }
    };
    // After an error, finish and save the running audits of files, and start no others.
    await pMap(roots, audit, { concurrency: workers.capacity });
    state.save();
    if (errors.length > 0) throw errors[0];
  }

  /**
   * Audits files with names that belong to no root on the chain. A file that waits for publication is only a notice.
   * Such a file matches the root in the file's name, and the file's users have no root yet.
   */
  async auditStrayFiles(workers: FileWorkers, names: readonly string[]): Promise<void> {
    const { findings, onProgress } = this.#options;
    let done = 0;
    const audit = async (name: string) => {
      findings.add(await this.#auditStrayFile(name, workers));
      onProgress?.("auditing stray files", ++done, names.length);
    };
    await pMap(names, audit, { concurrency: workers.capacity });
  }

  async #auditFile(history: RootHistory, workers: FileWorkers): Promise<void> {
    const { root } = history;
    const { state, findings, skipKnownFiles, isKnownRoot } = this.#options;
    const known = state.file(root);
    const isSkipped = skipKnownFiles === true && known?.sha256 !== undefined;
    const result: FileResult = isSkipped
      ? { kind: "unchanged" }
      : await workers.load({ root, knownSha256: known?.sha256 });
    if (result.kind === "unavailable") {
      const { code, message } = result;
      this.unavailableFiles.push({ root, code, message });
      return;
    }
    this.filesRead++;
    if (isSkipped) this.filesKnown++;
    const file = result.kind === "audited" ? result : { ...known, findings: [] };
    findings.add(file.findings);
    if (file.users === undefined) return;
    const userIDs = userIDsIn(file.users);
    this.userCount += userIDs.length;
    const compared = auditRoot(history, userIDs, await this.#readRoots(userIDs), isKnownRoot);
    findings.add(compared.findings);
    // Store no SHA-256 for a file with findings, so that every run audits the file again.
    state.recordFile(root, file.findings.length === 0 ? file.sha256 : undefined, file.users, compared.others);
  }

  async #auditStrayFile(name: string, workers: FileWorkers): Promise<Finding[]> {
    const root = rootOfFileName(basename(name));
    if (root === undefined) return [strayFile(name, "Its name is not the name of a Merkle-tree file.")];
    const result = await workers.load({ root });
    if (result.kind === "unavailable") return [strayFile(name, result.message, { root })];
    const { users, findings } = result.kind === "audited" ? result : { users: undefined, findings: [] };
    const [defect] = findings;
    // The publisher may have deleted the file after the folder was listed.
    if (defect?.code === "FILE_MISSING") return [];
    if (users === undefined || defect !== undefined) {
      return [strayFile(name, defect?.message ?? "", { root, detail: defect?.detail })];
    }
    const userIDs = userIDsIn(users);
    const userRoots = await this.#readRoots(userIDs);
    const published = userRoots.findIndex((userRoot) => userRoot !== undefined);
    if (published !== -1) {
      const reason = `Its user ${userIDs[published]} has the root ${userRoots[published]}.`;
      return [strayFile(name, reason, { root })];
    }
    const message = `The file ${name} is valid, but not published yet. None of its users has a root.`;
    return [finding("FILE_PENDING", message, { root })];
  }

  #readRoots(userIDs: readonly UserID[]): Promise<(string | undefined)[]> {
    const { call, contract, blockHash, provenUnder } = this.#options;
    if (provenUnder !== undefined) return proveRoots(call, contract, userIDs, provenUnder);
    return readRoots(call, contract, userIDs, { blockHash });
  }
}

function strayFile(name: string, reason: string, about: Pick<Finding, "root" | "detail"> = {}): Finding {
  const message = `${JSON.stringify(name)} in the folder belongs to no root on the chain. ${reason}`;
  return finding("FILE_STRAY", message, about);
}
