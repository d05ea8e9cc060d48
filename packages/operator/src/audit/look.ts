import { TransportError } from "keyroot/errors";
import { base64ToBytes } from "keyroot/bytes";
import { keyIDOf } from "keyroot/identity";
import { USER_ID_BYTES, type UserID, userIDToBytes } from "keyroot/identity";
import { fetchBlock } from "keyroot/ethereum";
import type { BlockHeader } from "keyroot/ethereum";
import { readMerkleTreeRoots } from "keyroot/registry";
import { fetchRootAddedLogs, type RootAddedLog } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { verifyChainId } from "keyroot/verifier";
import { checkFile } from "./checkFile.ts";
import type { FileSource } from "./fileSource.ts";
import { type Finding, finding } from "./finding.ts";
import { type JudgedFile, USER_BYTES } from "./judgeFile.ts";
import type { WatchState } from "./watchState.ts";

/** A user, and the key that they know to be theirs. */
export interface WatchedUser {
  userID: UserID;
  /** 105 bytes in base64. */
  pubKey: string;
}

export interface LookOptions {
  call: RpcCall;
  chainId: number;
  /** 0x and 40 hex digits. */
  contract: string;
  files: FileSource;
  users: readonly WatchedUser[];
  /** Up to which block: `finalized` ones are not taken back. */
  tag: "latest" | "safe" | "finalized";
  /** The block from which on roots are looked at, where the state has none; default the newest one. */
  fromBlock?: number | undefined;
  state: WatchState;
  /** Whether to read the files of the users' own roots, though they were good before. */
  ownFiles: boolean;
}

/** What one look showed. */
export interface Look {
  block: BlockHeader;
  /** What was added since the last look. */
  added: RootAddedLog[];
  /** Watched users who have a root now, and had none: their key is published. */
  published: { userID: UserID; root: string }[];
  findings: Finding[];
}

/**
 * Looks once: at the file of every root that was added since the last look, and at the root of every watched user.
 * @throws VerificationError CHAIN_ID_MISMATCH and as `fetchBlock`; TransportError where endpoint or file host do not
 * answer: then nothing was seen, and the next look begins where this one did
 */
export async function look(options: LookOptions): Promise<Look> {
  const { call, contract, tag, state } = options;
  verifyChainId(options, { chainId: await call("eth_chainId", []) });
  const block = await fetchBlock(call, tag);
  const { next, findings } = await whereToBegin(options, block);
  const range = { fromBlock: next, toBlock: block.number };
  const added = next > block.number ? [] : await fetchRootAddedLogs(call, contract, range);
  const files = new Files(options);

  const suspects = new Set<string>();
  for (const root of new Set([...state.suspects, ...added.map(({ root }) => root)])) {
    const answer = await files.read(root);
    if (answer.findings.length > 0) suspects.add(root);
    findings.push(...answer.findings, ...judgeMentions(options.users, root, answer.users));
  }

  const { published, findings: own } = await judgeOwn(options, block, files);
  // The file of a new root is judged above and here.
  const news = own.filter(({ message }) => !findings.some((known) => known.message === message));
  state.suspects.clear();
  for (const root of suspects) state.suspects.add(root);
  if (block.number >= (state.cursors.at(-1)?.number ?? 0)) state.moveTo({ number: block.number, hash: block.hash });
  await state.save();
  return { block, added, published, findings: [...findings, ...news] };
}

/** The first block that was not looked at. Where the chain no longer has the last one, it goes back to one that it has. */
async function whereToBegin({ call, state, fromBlock }: LookOptions, block: BlockHeader) {
  const last = state.cursors.at(-1);
  if (last === undefined) return { next: fromBlock ?? block.number + 1, findings: [] };
  const findings: Finding[] = [];
  for (const { number, hash } of state.cursors.toReversed()) {
    // A node that is behind says nothing against the blocks that it does not have.
    if (number > block.number) continue;
    if ((await fetchBlock(call, number)).hash === hash) return { next: number + 1, findings };
    if (findings.length > 0) continue;
    const message = `The block ${number}, ${hash}, is no longer on the chain: roots are looked at again from where it parted.`;
    findings.push(finding("CHAIN_REORGANISED", message));
  }
  return { next: state.cursors[0]?.number ?? 0, findings };
}

/** The files of one look, each read once. */
class Files {
  readonly #source: FileSource;
  readonly #judged = new Map<string, JudgedFile>();

  constructor({ files }: LookOptions) {
    this.#source = files;
  }

  /** @throws TransportError where the host does not answer */
  async read(root: string): Promise<JudgedFile> {
    const known = this.#judged.get(root);
    if (known !== undefined) return known;
    const answer = await checkFile({ root }, this.#source);
    if (answer.kind === "unanswered") throw new TransportError(answer.code, answer.message);
    if (answer.kind === "unchanged") throw new RangeError("A file that nobody knew is unchanged.");
    this.#judged.set(root, answer);
    return answer;
  }
}

/** The roots of the watched users, and what their files say. */
async function judgeOwn({ call, contract, users, state, ownFiles }: LookOptions, { hash }: BlockHeader, files: Files) {
  const findings: Finding[] = [];
  const published: Look["published"] = [];
  const userIDs = users.map(({ userID }) => userID);
  const roots = await readMerkleTreeRoots(call, contract, userIDs, { block: { blockHash: hash } });
  for (const [i, user] of users.entries()) {
    const { userID } = user;
    const [root, known] = [roots[i], state.roots.get(userID)];
    if (known !== undefined && known !== root) {
      const message = `The user ${userID} had the root ${known}, and has ${root ?? "none"} now: a root never changes on one chain.`;
      findings.push(finding("WATCHED_ROOT_CHANGED", message, { root: known, userID }));
    }
    if (root === undefined || (root === known && !ownFiles)) continue;
    const answer = await files.read(root);
    const own = judgeUser(user, root, answer.users);
    findings.push(...answer.findings, ...own);
    // Until it is good, it is judged by every look.
    if (answer.findings.length + own.length > 0) continue;
    state.roots.set(userID, root);
    if (root !== known) published.push({ userID, root });
  }
  return { published, findings };
}

/** What a user's own root must be over: a record of theirs, with their key. */
function judgeUser(user: WatchedUser, root: string, users: Uint8Array | undefined): Finding[] {
  if (users === undefined) return [];
  const { userID } = user;
  if (keyIDIn(users, userID) !== undefined) return judgeMentions([user], root, users);
  const message = `The user ${userID} has the root ${root}, whose file does not have them.`;
  return [finding("USER_NOT_IN_FILE", message, { root, userID })];
}

/** Watched users who stand in a file with another key than theirs, whatever root they have. */
function judgeMentions(watched: readonly WatchedUser[], root: string, users: Uint8Array | undefined): Finding[] {
  if (users === undefined) return [];
  return watched.flatMap(({ userID, pubKey }) => {
    const keyID = keyIDIn(users, userID);
    if (keyID === undefined || Buffer.compare(keyID, keyIDOf(base64ToBytes(pubKey))) === 0) return [];
    const message = `The file of ${root} has another key for the user ${userID} than theirs.`;
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
