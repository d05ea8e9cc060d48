import { TransportError } from "keyroot/errors";
import { type BlockHeader, fetchBlock } from "keyroot/ethereum";
import type { UserID } from "keyroot/identity";
import { fetchRootAddedLogs, readMerkleTreeRoots, type RootAddedLog } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { verifyChainId } from "keyroot/verifier";
import type { FileSource } from "./fileSource.ts";
import { type Finding, finding } from "./finding.ts";
import { type FileReading, readFiles } from "./pollFiles.ts";
import type { WatchState } from "./watchState.ts";

/** A user, and the key that they know to be theirs. */
export interface WatchedUser {
  userID: UserID;
  /** 105 bytes in base64. */
  pubKey: string;
}

/** Options of `poll` and `pollEvents`. */
export interface PollOptions {
  call: RpcCall;
  /** The chain id that the endpoint must have (EIP-155). */
  chainId: number;
  /** 0x and 40 hex digits. */
  contract: string;
  files: FileSource;
  users: readonly WatchedUser[];
  /** The newest block to read. `finalized` blocks are never reorganized. */
  tag: "latest" | "safe" | "finalized";
  /** The first block whose roots are audited if the state has no cursor. Default: the next block. */
  fromBlock?: number | undefined;
  state: WatchState;
  /** Whether to read the files of the users' own roots again although they were valid before. */
  readOwnFiles: boolean;
  /** After how many ms an unavailable file is an alarm. Default 600,000. */
  unavailableAfterMs?: number | undefined;
  /** The oldest block that the endpoint may call its newest one, in ms. Default: any. */
  maxAgeMs?: number | undefined;
  /** How long to read files, in ms; the others are left to the next poll. Default: no limit. */
  maxFilesMs?: number | undefined;
  /** The current time in ms since 1970. Default: the system's clock. */
  now?: (() => number) | undefined;
}

/** A user with a root on the chain. */
export interface UserWithRoot {
  userID: UserID;
  /** 64 hex digits in lower case. */
  root: string;
}

/** What the chain says about the watched users. No file was read for it. */
export interface UserReading {
  block: BlockHeader;
  /** The users' roots at this block, in their order; undefined for a user without a root. */
  roots: readonly (string | undefined)[];
  /** Users with a root whose file has not been found to be valid yet. */
  assigned: UserWithRoot[];
  findings: Finding[];
}

/** The roots that were added since the last poll. */
export interface LogReading {
  added: RootAddedLog[];
  findings: Finding[];
}

/** What one poll found. */
export interface PollResult
  extends Omit<UserReading, "findings">, Omit<LogReading, "findings">, Omit<FileReading, "findings"> {
  findings: Finding[];
}

/**
 * Reads what the chain says about the watched users, audits the file of every root that was added since the last poll, and
 * audits the root of every watched user. `pollEvents` reports each of these steps as soon as it has ended.
 *
 * If the endpoint fails, the next poll begins at the same block. A file that is unavailable is read again by each poll.
 * @throws VerificationError CHAIN_ID_MISMATCH, and as `fetchBlock`; TransportError of the endpoint and the state
 */
export async function poll(options: PollOptions): Promise<PollResult> {
  const users = await readUsers(options);
  const logs = await readLogs(options, users);
  const files = await readFiles(options, users, logs);
  return { ...users, ...logs, ...files, findings: [...users.findings, ...logs.findings, ...files.findings] };
}

/** Step 1: reads the roots of the watched users. */
export async function readUsers(options: PollOptions): Promise<UserReading> {
  const { call, contract, users, state, tag } = options;
  verifyChainId(options, { chainId: await call("eth_chainId", []) });
  const block = await fetchBlock(call, tag);
  const userIDs = users.map(({ userID }) => userID);
  const roots = await readMerkleTreeRoots(call, contract, userIDs, { block: { blockHash: block.hash } });
  const findings: Finding[] = [];
  const assigned: UserWithRoot[] = [];
  for (const [i, userID] of userIDs.entries()) {
    const [root, known] = [roots[i], state.roots.get(userID)];
    if (root !== undefined && root !== known) assigned.push({ userID, root });
    if (known === undefined || known === root) continue;
    const message = `The user ${userID} had the root ${known} and now has ${root ?? "none"}: a root never changes on one chain.`;
    findings.push(finding("WATCHED_ROOT_CHANGED", message, { root: known, userID }));
  }
  return { block, roots, assigned, findings };
}

/** Step 2: reads the roots that were added since the last poll. */
export async function readLogs(options: PollOptions, { block }: UserReading): Promise<LogReading> {
  checkAge(options, block);
  const { call, contract } = options;
  const { next, findings } = await findNextBlock(options, block);
  const range = { fromBlock: next, toBlock: block.number };
  return { added: next > block.number ? [] : await fetchRootAddedLogs(call, contract, range), findings };
}

/** The first block that was not audited. After a reorganization, the one after the newest block that is still on the chain. */
async function findNextBlock({ call, state, fromBlock }: PollOptions, block: BlockHeader) {
  if (state.cursors.length === 0) return { next: fromBlock ?? block.number + 1, findings: [] };
  const findings: Finding[] = [];
  for (const { number, hash } of state.cursors.toReversed()) {
    // A node that is behind does not have this block yet.
    if (number > block.number) continue;
    if ((await fetchBlock(call, number)).hash === hash) return { next: number + 1, findings };
    if (findings.length > 0) continue;
    const message = `Block ${number}, ${hash}, is no longer on the chain. Roots are audited again from the last common block.`;
    findings.push(finding("CHAIN_REORGANISED", message));
  }
  return { next: state.cursors[0]?.number ?? 0, findings };
}

/** @throws TransportError STALE_BLOCK: an endpoint that stands still shows no new roots */
function checkAge({ maxAgeMs = Infinity, now = Date.now }: PollOptions, { number, timestamp }: BlockHeader): void {
  const ageMs = now() - timestamp * 1000;
  if (ageMs <= maxAgeMs) return;
  const message = `The endpoint's newest block, ${number}, is ${Math.round(ageMs / 1000)} s old, at most ${maxAgeMs / 1000} s are accepted.`;
  throw new TransportError("STALE_BLOCK", message, { expected: maxAgeMs, actual: ageMs });
}
