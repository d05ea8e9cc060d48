import { base64ToBytes } from "keyroot/bytes";
import { TransportError } from "keyroot/errors";
import { type BlockHeader, fetchBlock } from "keyroot/ethereum";
import { keyIDOf, USER_ID_BYTES, type UserID, userIDToBytes } from "keyroot/identity";
import { readMerkleTreeRoots, fetchRootAddedLogs, type RootAddedLog } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { verifyChainId } from "keyroot/verifier";
import { type FileAudit, USER_BYTES } from "./auditFile.ts";
import type { FileSource } from "./fileSource.ts";
import { type Finding, finding } from "./finding.ts";
import { loadFile } from "./loadFile.ts";
import type { WatchState } from "./watchState.ts";

/** A user, and the key that they know to be theirs. */
export interface WatchedUser {
  userID: UserID;
  /** 105 bytes in base64. */
  pubKey: string;
}

export interface PollOptions {
  call: RpcCall;
  /** The chain id that the endpoint must have (EIP-155). */
  chainId: number;
  /** 0x and 40 hex digits. */
  contract: string;
  files: FileSource;
  users: readonly WatchedUser[];
  /** The newest block to read. `finalized` blocks are never reorganised. */
  tag: "latest" | "safe" | "finalized";
  /** The first block whose roots are audited if the state has no cursor. Default: the next block. */
  fromBlock?: number | undefined;
  state: WatchState;
  /** Whether to read the files of the users' own roots again although they were valid before. */
  readOwnFiles: boolean;
}

/** What one poll found. */
export interface PollResult {
  block: BlockHeader;
  /** The roots added since the last poll. */
  added: RootAddedLog[];
  /** Watched users who have got a root, with their key: it is published. */
  published: { userID: UserID; root: string }[];
  findings: Finding[];
}

/**
 * Audits the file of every root that was added since the last poll, and the root of every watched user.
 *
 * If the endpoint or the file host fails, the poll reports and saves nothing; the next one begins at the same block.
 * @throws VerificationError CHAIN_ID_MISMATCH, and as `fetchBlock`; TransportError
 */
export async function poll(options: PollOptions): Promise<PollResult> {
  const { call, contract, tag, state } = options;
  verifyChainId(options, { chainId: await call("eth_chainId", []) });
  const block = await fetchBlock(call, tag);
  const { next, findings } = await findNextBlock(options, block);
  const range = { fromBlock: next, toBlock: block.number };
  const added = next > block.number ? [] : await fetchRootAddedLogs(call, contract, range);
  const files = new PolledFiles(options.files);

  const suspects: string[] = [];
  for (const root of new Set([...state.suspects, ...added.map(({ root }) => root)])) {
    const file = await files.load(root);
    if (file.findings.length > 0) suspects.push(root);
    findings.push(...file.findings, ...auditWatchedUsers(options.users, root, file.users));
  }

  const own = await auditOwnRoots(options, block, files);
  // The file of a new root of a watched user was audited above as well.
  const ownFindings = own.findings.filter(({ message }) => !findings.some((known) => known.message === message));
  const isNewest = block.number >= (state.cursors.at(-1)?.number ?? 0);
  const cursor = isNewest ? { number: block.number, hash: block.hash } : undefined;
  state.save({ cursor, newRoots: own.newRoots, suspects });
  const published = Array.from(own.newRoots, ([userID, root]) => ({ userID, root }));
  return { block, added, published, findings: [...findings, ...ownFindings] };
}

/** The first block that was not audited. After a reorganisation, the one after the newest block that is still on the chain. */
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

/** The files of one poll, each read once. */
class PolledFiles {
  readonly #source: FileSource;
  readonly #files = new Map<string, FileAudit>();

  constructor(source: FileSource) {
    this.#source = source;
  }

  /** @throws TransportError if the host or folder does not return the file */
  async load(root: string): Promise<FileAudit> {
    const known = this.#files.get(root);
    if (known !== undefined) return known;
    const result = await loadFile({ root }, this.#source);
    if (result.kind === "unavailable") throw new TransportError(result.code, result.message);
    if (result.kind === "unchanged") throw new RangeError("A file without a known hash is unchanged.");
    this.#files.set(root, result);
    return result;
  }
}

/** Audits the roots of the watched users and their files. @returns valid roots that users have got since the last poll */
async function auditOwnRoots(
  { call, contract, users, state, readOwnFiles }: PollOptions,
  { hash }: BlockHeader,
  files: PolledFiles,
) {
  const findings: Finding[] = [];
  const newRoots = new Map<UserID, string>();
  const userIDs = users.map(({ userID }) => userID);
  const roots = await readMerkleTreeRoots(call, contract, userIDs, { block: { blockHash: hash } });
  for (const [i, user] of users.entries()) {
    const { userID } = user;
    const [root, known] = [roots[i], state.roots.get(userID)];
    if (known !== undefined && known !== root) {
      const message = `The user ${userID} had the root ${known} and now has ${root ?? "none"}: a root never changes on one chain.`;
      findings.push(finding("WATCHED_ROOT_CHANGED", message, { root: known, userID }));
    }
    if (root === undefined || (root === known && !readOwnFiles)) continue;
    const file = await files.load(root);
    const own = auditOwnRoot(user, root, file.users);
    findings.push(...file.findings, ...own);
    // A root with findings is not recorded, so that every poll audits it.
    if (file.findings.length + own.length === 0 && root !== known) newRoots.set(userID, root);
  }
  return { newRoots, findings };
}

/** The file of a user's root must contain the user, with the user's key. */
function auditOwnRoot(user: WatchedUser, root: string, users: Uint8Array | undefined): Finding[] {
  if (users === undefined) return [];
  const { userID } = user;
  if (keyIDIn(users, userID) !== undefined) return auditWatchedUsers([user], root, users);
  const message = `The user ${userID} has the root ${root}, whose file does not contain them.`;
  return [finding("USER_NOT_IN_FILE", message, { root, userID })];
}

/** Reports watched users who are in a file with another key than theirs, whatever their root is. */
function auditWatchedUsers(watched: readonly WatchedUser[], root: string, users: Uint8Array | undefined): Finding[] {
  if (users === undefined) return [];
  return watched.flatMap(({ userID, pubKey }) => {
    const keyID = keyIDIn(users, userID);
    if (keyID === undefined || Buffer.compare(keyID, keyIDOf(base64ToBytes(pubKey))) === 0) return [];
    const message = `The file of ${root} has a key for the user ${userID} that is not theirs.`;
    return [finding("WATCHED_KEY_MISMATCH", message, { root, userID })];
  });
}

/** The first 16 bytes of SHA-256 over a user's key in a file. */
function keyIDIn(users: Uint8Array, userID: UserID): Uint8Array | undefined {
  const id = userIDToBytes(userID);
  for (let at = 0; at < users.length; at += USER_BYTES) {
    if (Buffer.compare(users.subarray(at, at + USER_ID_BYTES), id) === 0) {
      return users.subarray(at + USER_ID_BYTES, at + USER_BYTES);
    }
  }
  return undefined;
}
