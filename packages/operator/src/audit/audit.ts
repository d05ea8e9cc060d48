import type { ErrorCode } from "keyroot/errors";
import type { RpcCall } from "keyroot/transport";
import { fetchBlockNumber } from "keyroot/registry";
import { readMerkleTreeRoots } from "keyroot/registry";
import type { FileAnswer } from "./checkFile.ts";
import { eachAtOnce } from "./eachAtOnce.ts";
import { type FileSource, straysIn } from "./fileSource.ts";
import { FileWorkers } from "./fileWorkers.ts";
import { finding, Findings } from "./finding.ts";
import { type DatedRoot, readHistory } from "./history.ts";
import { type Elsewhere, judgeBlockNumber, judgeCount, judgeRoot, type RootHistory, rootsOf } from "./judgeChain.ts";
import { judgeElsewhere, judgeKeys } from "./judgeUsers.ts";
import { type AuditedContract, type Counts, readCounts } from "./readCounts.ts";
import type { AuditState } from "./state.ts";
import { UserIndex } from "./userIndex.ts";

/** How many files a thread has before it: while it waits for one, it judges another. */
const FILES_PER_WORKER = 4;
const CALLS_AT_ONCE = 8;
/** After so many files that their host did not answer, no more are asked for. */
const MAX_UNANSWERED = 8;
const SAVE_EVERY_MS = 3_000;

export interface AuditOptions extends AuditedContract {
  call: RpcCall;
  files: FileSource;
  /** How many threads judge files; 0 for none but the caller's. */
  workers: number;
  state: AuditState;
  /** Is told how far a stage of the work has come. */
  onProgress?: (stage: "reading events" | "reading roots" | "judging files", done: number, total: number) => void;
}

/** What an audit says. */
export interface AuditReport extends Counts {
  /** All events, in the order of the chain: one for each batch. */
  events: readonly DatedRoot[];
  /** How many different roots they name. */
  rootCount: number;
  /** How many users the files have that were judged; one in two files counts twice. */
  usersInFiles: number;
  findings: Findings;
  /** Files whose host did not answer: nothing is known of them, so that the audit has not passed. */
  unanswered: { root: string; code: ErrorCode; message: string }[];
  /** Whether there was a folder in which to look for stray files. */
  straysSearched: boolean;
}

/** What an audit comes to: one that could not see everything has not passed. */
export function verdictOf({ findings, unanswered }: Pick<AuditReport, "findings" | "unanswered">) {
  return findings.count.damage > 0 ? "damage" : unanswered.length > 0 ? "unanswered" : "passed";
}

/**
 * Audits a registry's whole history against all its files, both ways, as of one block.
 * @throws VerificationError as `readCounts`; TransportError as the endpoint; nothing for what it finds
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { call, contract, files, state, onProgress } = options;
  const counts = await readCounts(call, options);
  const { evidence, userCount, deploymentBlock } = counts;
  const findings = new Findings();

  const { number, hash } = evidence.block;
  const range = { fromBlock: deploymentBlock, toBlock: number };
  const history = await readHistory(call, contract, range, state, (toBlock) => {
    onProgress?.("reading events", toBlock - deploymentBlock + 1, number - deploymentBlock + 1);
  });
  const { events } = history;
  const miscounted = judgeCount(events, userCount);
  findings.add(miscounted);
  findings.add(history.findings);

  const roots = rootsOf(events);
  const strays = "dir" in files ? await straysIn(files.dir, new Set(roots.map(({ root }) => root))) : [];
  findings.add(strays.map(strayFile));
  const both = new FilesAndChain(options, { blockHash: hash }, roots, findings);
  await both.judgeDates();
  await both.judgeFiles();
  if (both.unanswered.length === 0) {
    // Where events are missing or made up, they are to be read again.
    const adds = miscounted.length === 0 && !history.findings.some(({ code }) => code === "LOG_NOT_CANONICAL");
    state.finish(adds ? { cursor: { number, hash }, events } : undefined);
  }
  both.judgeUsers();
  findings.sort(roots.map(({ root }) => root));
  await state.save();
  return {
    ...counts,
    events,
    rootCount: roots.length,
    usersInFiles: both.users.count,
    findings,
    unanswered: both.unanswered,
    straysSearched: "dir" in files,
  };
}

/** The part of an audit in which every root's file is held against the chain. */
class FilesAndChain {
  readonly users = new UserIndex();
  readonly unanswered: AuditReport["unanswered"] = [];
  readonly #options: AuditOptions;
  readonly #block: { blockHash: string };
  readonly #roots: readonly RootHistory[];
  readonly #known: ReadonlySet<string>;
  readonly #findings: Findings;
  /** The root of each file that was judged, by its number in `users`; and the other way round. */
  readonly #judged: string[] = [];
  readonly #judgedRoots = new Set<string>();
  readonly #elsewhere: { root: string; users: Elsewhere[] }[] = [];

  constructor(options: AuditOptions, block: { blockHash: string }, roots: readonly RootHistory[], findings: Findings) {
    this.#options = options;
    this.#block = block;
    this.#roots = roots;
    this.#known = new Set(roots.map(({ root }) => root));
    this.#findings = findings;
  }

  /** Holds the block of each root's first event against the one that the contract recorded. */
  async judgeDates(): Promise<void> {
    const { call, contract, onProgress } = this.#options;
    let done = 0;
    await eachAtOnce(this.#roots, CALLS_AT_ONCE, async (history) => {
      const recorded = await fetchBlockNumber(call, contract, history.root, this.#block);
      this.#findings.add(judgeBlockNumber(history, recorded));
      onProgress?.("reading roots", ++done, this.#roots.length);
    });
  }

  /** Reads and judges every file, and the roots of all its users. */
  async judgeFiles(): Promise<void> {
    const { files, state, workers: count, onProgress } = this.#options;
    await using workers = new FileWorkers(files, count);
    let done = 0;
    let saved = performance.now();
    const judging = eachAtOnce(this.#roots, Math.max(count, 1) * FILES_PER_WORKER, async (history) => {
      if (this.unanswered.length >= MAX_UNANSWERED) return;
      const known = state.file(history.root);
      if (known?.inThisRun === true) await this.#judgeRoot(history, known.users);
      else await this.#take(history, await workers.check({ root: history.root, judged: known?.sha256 }));
      onProgress?.("judging files", ++done, this.#roots.length);
      if (performance.now() - saved < SAVE_EVERY_MS) return;
      saved = performance.now();
      await state.save();
    });
    // What is done is done, also where the endpoint fails in the middle.
    await judging.finally(() => state.save());
  }

  /** Holds the users of all files against each other. */
  judgeUsers(): void {
    const rootOf = (file: number) => this.#judged[file] ?? "";
    const isJudged = (root: string) => this.#judgedRoots.has(root);
    this.#findings.add(judgeKeys(this.users, rootOf));
    for (const { root, users } of this.#elsewhere) {
      for (const user of users) this.#findings.add([judgeElsewhere(root, user, this.users, rootOf, isJudged)]);
    }
  }

  async #take(history: RootHistory, answer: FileAnswer): Promise<void> {
    const { root } = history;
    const { state } = this.#options;
    if (answer.kind === "unanswered") {
      const { code, message } = answer;
      this.unanswered.push({ root, code, message });
      return;
    }
    const known = state.file(root);
    const { users, sha256, findings } =
      answer.kind === "unchanged" ? { users: known?.users, sha256: known?.sha256, findings: [] } : answer;
    this.#findings.add(findings);
    if (users === undefined) return;
    await this.#judgeRoot(history, users);
    // What is wrong with a file is to be said by every run.
    if (findings.length === 0 && sha256 !== undefined) state.note(root, sha256, users);
  }

  async #judgeRoot(history: RootHistory, bytes: Uint8Array): Promise<void> {
    const { call, contract } = this.#options;
    const file = this.users.add(bytes);
    this.#judged[file] = history.root;
    this.#judgedRoots.add(history.root);
    const userIDs = this.users.usersOf(file);
    const standing = await readMerkleTreeRoots(call, contract, userIDs, { block: this.#block });
    const { findings, elsewhere } = judgeRoot(history, userIDs, standing, (root) => this.#known.has(root));
    this.#findings.add(findings);
    if (elsewhere.length > 0) this.#elsewhere.push({ root: history.root, users: elsewhere });
  }
}

function strayFile(name: string) {
  const root = /^[0-9a-f]{64}(?=\.json$|$)/.exec(name)?.[0];
  const message = `${JSON.stringify(name)} stands among the files, and belongs to no root of the chain.`;
  return finding("FILE_STRAY", message, root === undefined ? {} : { root });
}
