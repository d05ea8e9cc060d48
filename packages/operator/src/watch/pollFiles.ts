import type { UserID } from "keyroot/internal/identity";
import { checkOwnRoot, checkWatchedUsers } from "./checkWatchedUsers.ts";
import type { UserRoot } from "../follow/index.ts";
import { type Finding, finding } from "../audit/finding.ts";
import { type FileResult, loadFile } from "../audit/loadFile.ts";
import type { UnavailableFile } from "../audit/rootFilesAudit.ts";
import { plural } from "../plural.ts";
import type { LogReading, PollOptions, UserReading, WatchedUser } from "./pollChain.ts";
import type { WatchedFile } from "./watchState.ts";

/** The default time in ms after which an unavailable file or endpoint becomes an alarm. */
export const UNAVAILABLE_AFTER_MS = 600_000;
/** The number of consecutive unavailable files after which a poll requests no more files. */
const MAX_FAILURES = 3;

/** A file that is due but was not read, and the time since when, in ms since 1970. */
type MissedFile = UnavailableFile & { since: number };

/** The results of the files that a poll read. */
export interface FileReading {
  /** Watched users with a key in their root's file. */
  published: UserRoot[];
  /** The due files that were not returned, or not requested because of earlier failures or slow files. */
  unavailable: MissedFile[];
  findings: Finding[];
}

/**
 * Step 3 of a poll: reads the files that are due, and saves the results. A file is due if its root is new, or if the
 * last poll did not find it valid. The file of a watched user's root is also due if it was not read for
 * `rereadAfterMs`.
 *
 * The files of watched users' new roots are read first, then the files that have waited longest. A slow file therefore
 * cannot keep a poll from reading the others. A due file that was not read stays due, and is reported as damage after
 * the time limit.
 * @throws TransportError FILE_UNWRITABLE for the state
 */
export async function readFiles(
  options: PollOptions,
  { roots }: UserReading,
  { added, cursor }: LogReading,
): Promise<FileReading> {
  const { users, state, maxFilesMs = Infinity, now = Date.now } = options;
  const readFile = fileReader(options);
  const owners = ownersOf(users, roots);
  const changed = new Map<string, WatchedFile | undefined>();
  const newRoots = new Map<UserID, string>();
  const unavailable: MissedFile[] = [];
  const findings: Finding[] = [];
  // Read at least one file, even if the time is over.
  const endsAt = performance.now() + maxFilesMs;
  let requested = 0;
  for (const [root, file] of dueFiles(options, owners, added)) {
    const isLate = requested++ > 0 && performance.now() >= endsAt;
    const result = isLate ? NOT_REACHED : await readFile(root);
    const triedAt = isLate || "notRequested" in result ? file.triedAt : now();
    if (result.kind === "unavailable") {
      const since = Math.min(file.dueSince ?? Infinity, now());
      changed.set(root, { ...file, triedAt, dueSince: since });
      unavailable.push({ root, code: result.code, message: result.message, since });
      continue;
    }
    const own = owners.get(root) ?? [];
    const faulty = new Map(own.map((user) => [user, checkOwnRoot(user, root, result.users)]));
    const others = users.filter((user) => !faulty.has(user));
    const found = [...faulty.values()].flat();
    found.push(...checkWatchedUsers(others, root, result.users), ...result.findings);
    findings.push(...found);
    // A file with findings stays a suspect, so that every poll reads it.
    if (found.length > 0) changed.set(root, { isSuspect: true, triedAt });
    else changed.set(root, own.length > 0 ? { isSuspect: false, triedAt, readAt: now() } : undefined);
    if (result.findings.length > 0) continue;
    for (const [{ userID }, wrong] of faulty)
      if (wrong.length === 0 && state.roots.get(userID) !== root) newRoots.set(userID, root);
  }
  findings.push(...auditUnavailable(unavailable, options, owners));
  state.save({ cursor, newRoots, files: changed });
  return { published: Array.from(newRoots, ([userID, root]) => ({ userID, root })), unavailable, findings };
}

/** Returns the watched users with each root. */
function ownersOf(users: readonly WatchedUser[], roots: UserReading["roots"]): Map<string, WatchedUser[]> {
  const byRoot = Map.groupBy(users, (_, i) => roots[i] ?? "");
  byRoot.delete("");
  return byRoot;
}

/** Returns the files that are due, in the order in which a poll reads them. */
function dueFiles(
  { state, rereadAfterMs, now = Date.now }: PollOptions,
  owners: ReadonlyMap<string, readonly WatchedUser[]>,
  added: LogReading["added"],
): [root: string, file: WatchedFile][] {
  const due = new Map<string, WatchedFile>();
  for (const [root, users] of owners) {
    const file = state.files.get(root);
    const isKnown = file?.isSuspect === false && users.every(({ userID }) => state.roots.get(userID) === root);
    // A time in the future is a clock that was set back.
    const age = now() - (file?.readAt ?? -Infinity);
    if (!isKnown || age < 0 || age >= rereadAfterMs) due.set(root, file ?? { isSuspect: true });
  }
  for (const { root } of added) if (!due.has(root)) due.set(root, state.files.get(root) ?? { isSuspect: true });
  for (const [root, file] of state.files) if (file.isSuspect && !due.has(root)) due.set(root, file);
  // The sort keeps the order of equal elements: watched users' roots first.
  const rank = ([root, { triedAt }]: [string, WatchedFile]) => triedAt ?? (owners.has(root) ? -2 : -1);
  return [...due].sort((a, b) => rank(a) - rank(b));
}

type Unavailable = Extract<FileResult, { kind: "unavailable" }> & { notRequested?: true };

const NOT_REACHED: Unavailable = {
  kind: "unavailable",
  code: "TIMEOUT",
  message: "It was not requested in this poll, because other files took too long.",
  notRequested: true,
};

/** Returns a function that reads and audits files, until too many in a row are unavailable. */
function fileReader({ files, keyType }: PollOptions) {
  let failures = 0;
  let lastFailure = NOT_REACHED;
  return async (root: string): Promise<Extract<FileResult, { kind: "audited" }> | Unavailable> => {
    if (failures >= MAX_FAILURES) {
      const message = `It was not requested, because ${MAX_FAILURES} files before it were unavailable. ${lastFailure.message}`;
      return { ...lastFailure, message, notRequested: true };
    }
    const result = await loadFile({ root }, files, keyType);
    if (result.kind === "unchanged") throw new RangeError("A file without a known hash is unchanged.");
    failures = result.kind === "audited" ? 0 : failures + 1;
    if (result.kind === "unavailable") lastFailure = result;
    return result;
  };
}

/** Reports files that have been due and unread for too long. @param owners the watched users with each root */
function auditUnavailable(
  files: readonly MissedFile[],
  { unavailableAfterMs = UNAVAILABLE_AFTER_MS, now = Date.now }: PollOptions,
  owners: ReadonlyMap<string, readonly WatchedUser[]>,
): Finding[] {
  return files.flatMap(({ root, code, message, since }) => {
    if (now() - since < unavailableAfterMs) return [];
    const own = owners.get(root) ?? [];
    const userID = own[0]?.userID;
    const whose =
      userID === undefined
        ? "It may contain false keys of watched users"
        : `The key of the user ${userID}${own.length > 1 ? ` and the keys of ${plural(own.length - 1, "other user")}` : ""} with this root cannot be checked`;
    const text = `The file of ${root} has been unavailable since ${new Date(since).toISOString()}. ${whose}. ${code}: ${message}`;
    return [finding("FILE_UNAVAILABLE", text, { root, userID, detail: code })];
  });
}
