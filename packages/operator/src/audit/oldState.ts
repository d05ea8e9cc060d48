/**
 * The files in which version 0.1.0 kept states: one JSON object `{ content, seal }`, where `seal` is the SHA-256 of the
 * content's JSON; for an audit also `.users` beside it, with the users of all files one after the other.
 */
import { hash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { KeyrootError, TransportError } from "keyroot/errors";
import { LOWERCASE_HASH } from "keyroot/ethereum";
import type { UserID } from "keyroot/identity";
import { parseDocument } from "keyroot/input";
import { MERKLE_ROOT } from "keyroot/merkle";
import { USER_BYTES } from "./auditFile.ts";
import type { AuditStateContent } from "./auditState.ts";
import type { BlockCursor, DatedRootLog } from "./history.ts";
import { type AuditTarget, checkTarget, invalidState, stateShape } from "./stateFile.ts";
import type { WatchStateContent } from "./watchState.ts";

/** What was read, and the paths that it was read from. */
interface OldState<Content> {
  content: Content;
  paths: string[];
}

const LIMITS = { maxBytes: 2 ** 28, maxDepth: 4 };
const MAX_USERS_BYTES = 2 ** 32;
const MAX_ENTRIES = 10_000_000;
const TARGET_KEYS = ["format", "chainId", "genesis", "contract"] as const;

/** @throws ArgumentError STATE_INVALID; VerificationError as `parseDocument`; TransportError FILE_UNREADABLE */
export async function readOldAuditState(path: string, target: AuditTarget): Promise<OldState<AuditStateContent>> {
  const keys = [...TARGET_KEYS, "run", "finishedRun", "cursor", "events", "files", "users"] as const;
  const content = stateShape.object("content", await readSealed(path), keys);
  checkOldTarget(content, "keyroot-audit-v1", target);
  const [cursor] = stateShape.list("cursor", content.cursor, 1, readCursor);
  const usersPath = `${path}.users`;
  const files = stateShape.list("files", content.files, MAX_ENTRIES, readFileEntry);
  return {
    content: {
      cursor,
      events: stateShape.list("events", content.events, MAX_ENTRIES, readEvent),
      files: splitUsers(files, await readUsers(usersPath, content.users), usersPath),
    },
    paths: [path, usersPath],
  };
}

/** @throws as `readOldAuditState` */
export async function readOldWatchState(path: string, target: AuditTarget): Promise<OldState<WatchStateContent>> {
  const keys = [...TARGET_KEYS, "cursors", "roots", "suspects"] as const;
  const content = stateShape.object("content", await readSealed(path), keys);
  checkOldTarget(content, "keyroot-watch-v1", target);
  const roots = stateShape.list("roots", content.roots, MAX_ENTRIES, readRoot);
  return {
    content: {
      cursors: stateShape.list("cursors", content.cursors, MAX_ENTRIES, readCursor),
      roots: new Map(roots),
      suspects: stateShape.list("suspects", content.suspects, MAX_ENTRIES, readHash),
      unavailable: new Map(),
    },
    paths: [path],
  };
}

async function readSealed(path: string): Promise<unknown> {
  const bytes = await readLimited(path, LIMITS.maxBytes);
  const { content, seal } = stateShape.object("The state", parseDocument("It", bytes, LIMITS), ["content", "seal"]);
  if (hash("sha256", JSON.stringify(content)) !== seal) throw invalidState("It was changed since it was written.");
  return content;
}

function checkOldTarget(
  { format, chainId, genesis, contract }: Record<(typeof TARGET_KEYS)[number], unknown>,
  expectedFormat: string,
  target: AuditTarget,
): void {
  if (format !== expectedFormat) throw invalidState("It is a state of another kind or version.");
  const address = typeof contract === "string" ? contract.toLowerCase() : contract;
  checkTarget({ chainId, genesisHash: genesis, contract: address }, target);
}

/** The bytes of `.users` that the state counts; what an interrupted run wrote behind them does not count. */
async function readUsers(path: string, users: unknown): Promise<Uint8Array> {
  const { bytes, sha256 } = stateShape.object("users", users, ["bytes", "sha256"]);
  const length = stateShape.count("users.bytes", bytes);
  if (length === 0) return new Uint8Array();
  const counted = (await readLimited(path, MAX_USERS_BYTES)).subarray(0, length);
  if (hash("sha256", counted) !== sha256) throw invalidState(`${path} was changed.`);
  return counted;
}

function splitUsers(
  files: readonly { root: string; sha256: string; count: number }[],
  users: Uint8Array,
  path: string,
): AuditStateContent["files"] {
  let start = 0;
  const split = files.map(({ root, sha256, count }) => {
    const end = start + count * USER_BYTES;
    const own = users.subarray(start, end);
    start = end;
    return { root, sha256, users: own };
  });
  if (start !== users.length) throw invalidState(`${path} has other users than the state says.`);
  return split;
}

async function readLimited(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw invalidState(`${path} has ${size} bytes, at most ${maxBytes} are read.`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof KeyrootError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") throw invalidState(`${path} is missing.`, { cause });
    throw new TransportError("FILE_UNREADABLE", `Cannot read ${path}: ${(cause as Error).message}.`, { cause });
  }
}

function readCursor(where: string, value: unknown): BlockCursor {
  const { number, hash } = stateShape.object(where, value, ["number", "hash"]);
  return {
    number: stateShape.count(`${where}.number`, number),
    hash: stateShape.text(`${where}.hash`, hash, LOWERCASE_HASH),
  };
}

function readEvent(where: string, value: unknown): DatedRootLog {
  const keys = ["root", "addedCount", "blockNumber", "blockHash", "logIndex", "timestamp"] as const;
  const event = stateShape.object(where, value, keys);
  return {
    root: readHash(`${where}.root`, event.root),
    addedCount: stateShape.count(`${where}.addedCount`, event.addedCount),
    blockNumber: stateShape.count(`${where}.blockNumber`, event.blockNumber),
    blockHash: stateShape.text(`${where}.blockHash`, event.blockHash, LOWERCASE_HASH),
    logIndex: stateShape.count(`${where}.logIndex`, event.logIndex),
    timestamp: stateShape.count(`${where}.timestamp`, event.timestamp),
  };
}

function readFileEntry(where: string, value: unknown) {
  const file = stateShape.object(where, value, ["root", "sha256", "users", "run"]);
  return {
    root: readHash(`${where}.root`, file.root),
    sha256: readHash(`${where}.sha256`, file.sha256),
    count: stateShape.count(`${where}.users`, file.users),
  };
}

function readRoot(where: string, value: unknown): [UserID, string] {
  const { userID, root } = stateShape.object(where, value, ["userID", "root"]);
  return [stateShape.text(`${where}.userID`, userID), readHash(`${where}.root`, root)];
}

function readHash(where: string, value: unknown): string {
  return stateShape.text(where, value, MERKLE_ROOT);
}
