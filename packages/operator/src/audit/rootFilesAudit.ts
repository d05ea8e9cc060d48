import pMap from "p-map";
import { fetchBlockNumber, USERS_PER_CALL } from "keyroot/internal/registry";
import type { BlockHeader } from "keyroot/internal/ethereum";
import type { UserID } from "keyroot/internal/identity";
import { basename } from "node:path";
import { rootOfFileName } from "keyroot/internal/merkle";
import type { RpcCall } from "keyroot/internal/transport";
import { auditBlockNumber, type RootHistory } from "./auditChain.ts";
import { type FileAudit, userIDsIn } from "./auditFile.ts";
import { proveBlockNumber, proveRoots, readRoots } from "../follow/index.ts";
import { mapCalls } from "../rpc/openEndpoint.ts";
import type { AuditState } from "./auditState.ts";
import { auditRoot } from "./auditRoot.ts";
import type { FileWorkers } from "./fileWorkers.ts";
import { type Finding, finding, type Findings } from "./finding.ts";
import type { FileResult } from "./loadFile.ts";

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
   * The block whose storage proofs show users' roots and the roots' block numbers. If it is undefined, both are read
   * without proofs.
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

/** A file that was read, and is compared with the chain next. */
interface LoadedFile {
  history: RootHistory;
  userIDs: readonly UserID[];
  /** The users as the state stores them. */
  users: NonNullable<FileAudit["users"]>;
  /** The SHA-256 of a valid file's bytes, in hex. */
  sha256: string | undefined;
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
  /** The number of these users who do not have the root of their file. */
  withoutRoot = 0;
  readonly #options: RootFilesAuditOptions;

  constructor(options: RootFilesAuditOptions) {
    this.#options = options;
  }

  /** Checks that the contract's block for each root is that of the root's first event. */
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
    await mapCalls(roots, audit);
  }

  /** Audits every root's file, and reads the roots of all users in the files. */
  async auditFiles(workers: FileWorkers): Promise<void> {
    const { roots, state, onProgress } = this.#options;
    const errors: unknown[] = [];
    let loaded: LoadedFile[] = [];
    let users = 0;
    let done = 0;
    let savedAt = performance.now();
    // Compares as many files at a time as one call reads users, because files may be small.
    const compareLoaded = async () => {
      const files = loaded;
      [loaded, users] = [[], 0];
      await this.#compareFiles(files);
      if (performance.now() - savedAt < SAVE_INTERVAL_MS) return;
      savedAt = performance.now();
      state.save();
    };
    const audit = async (history: RootHistory) => {
      if (errors.length > 0 || this.unavailableFiles.length >= MAX_UNAVAILABLE) return;
      try {
        const file = await this.#loadFile(history, workers);
        onProgress?.("auditing files", ++done, roots.length);
        if (file === undefined) return;
        if (users + file.userIDs.length > USERS_PER_CALL) await compareLoaded();
        loaded.push(file);
        users += file.userIDs.length;
      } catch (error) {
        errors.push(error);
      }
    };
    // After an error, finish and save the audits of the files that were read, and start no others.
    await pMap(roots, audit, { concurrency: workers.capacity });
    await compareLoaded().catch((error: unknown) => errors.push(error));
    state.save();
    if (errors.length > 0) throw errors[0];
  }

  /**
   * Audits files whose names contain a root that is not on the chain. Such a file may be waiting to be published. If it
   * matches the root in its name and none of its users has a root yet, it gets only a notice.
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

  /**
   * Reads and audits the file of a root.
   * @returns undefined if the file is unavailable or missing, or does not match the root
   */
  async #loadFile(history: RootHistory, workers: FileWorkers): Promise<LoadedFile | undefined> {
    const { root } = history;
    const { state, findings, skipKnownFiles } = this.#options;
    const known = state.file(root);
    const isSkipped = skipKnownFiles === true && known?.sha256 !== undefined;
    const result: FileResult = isSkipped
      ? { kind: "unchanged" }
      : await workers.load({ root, knownSha256: known?.sha256 });
    if (result.kind === "unavailable") {
      const { code, message } = result;
      this.unavailableFiles.push({ root, code, message });
      return undefined;
    }
    this.filesRead++;
    if (isSkipped) this.filesKnown++;
    const file = result.kind === "audited" ? result : { ...known, findings: [] };
    findings.add(file.findings);
    const { users } = file;
    if (users === undefined) {
      // A file that is missing or damaged is no longer one that an audit found valid, so the next audit reads it again.
      if (known !== undefined) state.recordFile(root, undefined, known.users);
      return undefined;
    }
    const userIDs = userIDsIn(users);
    this.userCount += userIDs.length;
    // Store no SHA-256 for a file with findings, so that every run audits the file again.
    return { history, userIDs, users, sha256: file.findings.length === 0 ? file.sha256 : undefined };
  }

  /** Compares files with the roots of their users, and saves the results. */
  async #compareFiles(files: readonly LoadedFile[]): Promise<void> {
    const { state, findings, isKnownRoot } = this.#options;
    const roots = await this.#readRoots(files.flatMap(({ userIDs }) => userIDs));
    let next = 0;
    for (const { history, userIDs, users, sha256 } of files) {
      const compared = auditRoot(history, userIDs, roots.slice(next, (next += userIDs.length)), isKnownRoot);
      findings.add(compared.findings);
      this.withoutRoot += userIDs.length - compared.found;
      state.recordFile(history.root, sha256, users, compared.others);
    }
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
