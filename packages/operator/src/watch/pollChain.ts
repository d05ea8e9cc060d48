import { type BlockHeader, fetchBlock, fetchBlockByHash } from "keyroot/internal/ethereum";
import type { KeyType, UserID } from "keyroot/internal/identity";
import {
  decodeUserCount,
  fetchBlockNumber,
  type RootAddedLog,
  USER_COUNT_SLOT,
  ZERO_ROOT,
} from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { verifyChainId } from "keyroot/internal/verifier";
import { auditCursor, auditUserCount } from "../audit/auditChain.ts";
import {
  checkBlock,
  fetchUserCountIfAny,
  type FileSource,
  isStillOnChain,
  proveRoots,
  proveSlots,
  readRootAddedLogs,
  readRoots,
  type UserRoot,
} from "../follow/index.ts";
import { type Finding, finding } from "../audit/finding.ts";
import type { RetryOptions } from "../http/retry.ts";
import { readUntil, repeatingCaller, repeatRead } from "../rpc/repeatReads.ts";
import type { WatchCursor, WatchState } from "./watchState.ts";

/** A user to watch, with the key that the user really has. */
export interface WatchedUser {
  userID: UserID;
  /** The user's public key in base64. */
  pubKey: string;
}

/** Options of `pollEvents`. */
export interface PollOptions {
  call: RpcCall;
  /** The chain id that the endpoint must have (EIP-155). */
  chainId: number;
  /** The address of the registry: 0x and 40 hex digits. */
  contract: string;
  files: FileSource;
  /** The type of the registry's keys: a value of `keyroot/key-types`. Default: `curve41417`. */
  keyType?: KeyType | undefined;
  users: readonly WatchedUser[];
  /** The newest block to read. Blocks that are `finalized` are never reorganized. */
  tag: "latest" | "safe" | "finalized";
  /**
   * Finds the newest block in a source other than the endpoint. If it is set, users' roots and the user count are read
   * with storage proofs at this block.
   */
  findBlock?: (() => Promise<{ blockHash: string }>) | undefined;
  /** The first block with audited roots, if the state has no cursor. Default: the next new block. */
  fromBlock?: number | undefined;
  state: WatchState;
  /** The time in ms after which the file of a watched user's root is read again. With 0, every poll reads it. */
  rereadAfterMs: number;
  /** The time in ms after which an unavailable file becomes an alarm. Default: 600,000. */
  unavailableAfterMs?: number | undefined;
  /** The maximum age of the endpoint's newest block, in ms. Default: no maximum. */
  maxAgeMs?: number | undefined;
  /**
   * How often to repeat a read after a temporary failure, or after a finding that a lagging node may have caused.
   * Default: 5 retries, the first after 500 ms.
   */
  retry?: RetryOptions | undefined;
  /**
   * The maximum time in ms that one poll spends on reading files. The next poll reads the remaining files. Default: no
   * maximum.
   */
  maxFilesMs?: number | undefined;
  /** Returns the current time in ms since 1970. Default: the system's clock. */
  now?: (() => number) | undefined;
}

/** The roots of the watched users, read from the contract. */
export interface UserReading {
  block: BlockHeader;
  /** The roots of the watched users at this block, in the order of the users. Undefined for a user without a root. */
  roots: readonly (string | undefined)[];
  /** Users with a root for which no valid file has been found yet. */
  assigned: UserRoot[];
  findings: Finding[];
}

/** The roots that were added since the last poll. */
export interface LogReading {
  added: RootAddedLog[];
  /** The block of this poll. Undefined if events are missing, so that the next poll reads the events again. */
  cursor: WatchCursor | undefined;
  findings: Finding[];
}

/** Step 1 of a poll. Reads the roots of the watched users. */
export async function readUsers(options: PollOptions): Promise<UserReading> {
  const { contract, users, state, tag, findBlock, retry } = options;
  const call = repeatingCaller(options.call, retry);
  verifyChainId(options, { chainId: await call("eth_chainId", []) });
  const userIDs = users.map(({ userID }) => userID);
  const hash = (await findBlock?.())?.blockHash;
  const block = await repeatRead(
    () => (hash === undefined ? fetchBlock(call, tag) : fetchBlockByHash(call, hash)),
    retry,
  );
  const roots =
    findBlock === undefined
      ? await readRoots(call, contract, userIDs, { blockHash: block.hash })
      : await proveRoots(call, contract, userIDs, block);
  const findings: Finding[] = [];
  const assigned: UserRoot[] = [];
  for (const [i, userID] of userIDs.entries()) {
    const [root, known] = [roots[i], state.roots.get(userID)];
    if (root !== undefined && root !== known) assigned.push({ userID, root });
    if (known === undefined || known === root) continue;
    const message = `The user ${userID} had the root ${known} and now has ${root ?? "none"}. A root never changes on one chain.`;
    findings.push(finding("WATCHED_ROOT_CHANGED", message, { root: known, userID }));
  }
  return { block, roots, assigned, findings };
}

/**
 * Step 2 of a poll: reads the roots that were added since the last poll. If the events contain more or fewer users than
 * the contract counts, a response was false. The events are then read again from older and older cursors, until the
 * numbers match.
 */
export async function readLogs(options: PollOptions, users: UserReading): Promise<LogReading> {
  const { retry } = options;
  const repeating = { ...options, call: repeatingCaller(options.call, retry) };
  // A node behind the others returns no events of the newest blocks.
  return readUntil(
    ({ findings }) => findings.every(({ code }) => code !== "LOG_WITHHELD" && code !== "LOG_EXCESS"),
    () => readLogsOnce(repeating, users),
    retry,
  );
}

async function readLogsOnce(options: PollOptions, { block }: UserReading): Promise<LogReading> {
  const { call, contract, state, chainId, fromBlock, maxAgeMs, now } = options;
  const cursors = state.cursors.toReversed();
  const last = cursors.find(({ number }) => number <= block.number) ?? cursors.at(-1);
  checkBlock(block, { chainId, last, maxAgeMs, now });
  const userCount = await fetchCount(options, block);
  const { number, hash, timestamp } = block;
  const cursor: WatchCursor = { number, hash, timestamp, userCount };
  const [newest] = cursors;
  if (newest === undefined) {
    const range = { fromBlock: fromBlock ?? number + 1, toBlock: number };
    return { added: await readRootAddedLogs(call, contract, range), cursor, findings: [] };
  }
  const findings = auditCursor(newest, block, false);
  const added: RootAddedLog[] = [];
  let next = number + 1;
  for await (const base of basesOf(options, cursors, block, findings)) {
    const range = { fromBlock: base.number + 1, toBlock: next - 1 };
    added.unshift(...(await readRootAddedLogs(call, contract, range)));
    next = Math.min(next, range.fromBlock);
    const expected = userCount === undefined || base.userCount === undefined ? undefined : userCount - base.userCount;
    const miscounted = expected === undefined ? [] : auditUserCount(added, expected);
    if (miscounted.length === 0) return { added, cursor, findings };
    if (!findings.some(({ code }) => code === miscounted[0]?.code)) findings.push(...miscounted);
  }
  return { added, cursor: undefined, findings };
}

/**
 * Yields the blocks after which events can be read, the newest first. These are the cursors that are still on the
 * chain, and then the block before the contract's deployment. For the first cursor that is no longer on the chain, it
 * adds a finding.
 */
async function* basesOf(
  { call, contract, retry }: PollOptions,
  cursors: readonly WatchCursor[],
  { number: newest, hash: blockHash }: BlockHeader,
  findings: Finding[],
): AsyncGenerator<Pick<WatchCursor, "number" | "userCount">> {
  let isReported = false;
  for (const cursor of cursors) {
    // A node that is behind the chain does not have this block yet.
    if (cursor.number > newest) continue;
    if (await isStillOnChain(call, cursor, retry)) {
      yield cursor;
    } else if (!isReported) {
      const message = `Block ${cursor.number} with the hash ${cursor.hash} is no longer on the chain. Roots are audited again from the last common block.`;
      findings.push(finding("CHAIN_REORGANIZED", message));
      isReported = true;
    }
  }
  const deployed = await fetchBlockNumber(call, contract, ZERO_ROOT, { blockHash });
  yield { number: Math.max(deployed - 1, 0), userCount: 0 };
}

async function fetchCount({ call, contract, findBlock }: PollOptions, block: BlockHeader): Promise<number | undefined> {
  if (findBlock === undefined) return fetchUserCountIfAny(call, contract, { blockHash: block.hash });
  const [count] = await proveSlots(call, contract, [USER_COUNT_SLOT], block);
  return decodeUserCount(count);
}
