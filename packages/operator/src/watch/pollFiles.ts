import type { KeyType, UserID } from "keyroot/internal/identity";
import type { FileAudit } from "../audit/auditFile.ts";
import { checkOwnRoot, checkWatchedUsers } from "./checkWatchedUsers.ts";
import type { FileSource, UserRoot } from "../follow/index.ts";
import { type Finding, finding } from "../audit/finding.ts";
import { loadFile } from "../audit/loadFile.ts";
import type { UnavailableFile } from "../audit/rootFilesAudit.ts";
import { plural } from "../plural.ts";
import type { LogReading, PollOptions, UserReading } from "./pollChain.ts";

/** The default time in ms after which an unavailable file or endpoint becomes an alarm. */
export const UNAVAILABLE_AFTER_MS = 600_000;
/** The number of consecutive unavailable files after which a poll requests no more files. */
const MAX_FAILURES = 3;

/** An unavailable file, and the time of the first failed request in ms since 1970. */
type MissedFile = UnavailableFile & { since: number };

/** The results of the files that a poll read. */
export interface FileReading {
  /** Watched users with a key in their root's file. */
  published: UserRoot[];
  /** Files that were not returned, and files that were not requested because of earlier failures. */
  unavailable: MissedFile[];
  findings: Finding[];
}

/**
 * Step 3 of a poll. Audits the files of the watched users' roots, then the files of new roots and of suspects. Saves
 * the results. An unavailable file stays a suspect, and counts as damage after the time limit.
 * @throws TransportError FILE_UNWRITABLE for the state
 */
export async function readFiles(
  options: PollOptions,
  { roots }: UserReading,
  { added, cursor }: LogReading,
): Promise<FileReading> {
  const { users, state, readOwnFiles, maxFilesMs = Infinity, now = Date.now } = options;
  const files = new PolledFiles(options.files, options.keyType);
  const waiting = new Set([...state.suspects, ...added.map(({ root }) => root)]);
  const suspects = new Set<string>();
  const findings: Finding[] = [];
  const newRoots = new Map<UserID, string>();

  // Read at least one file, even if the time is over.
  const endsAt = performance.now() + maxFilesMs;
  const isLate = () => files.count > 0 && performance.now() >= endsAt;

  for (const [i, user] of users.entries()) {
    const [root, known] = [roots[i], state.roots.get(user.userID)];
    if (root === undefined || (root === known && !waiting.has(root) && (!readOwnFiles || isLate()))) continue;
    const file = isLate() ? files.known(root, true) : await files.load(root);
    const own = checkOwnRoot(user, root, file?.users);
    findings.push(...own);
    // A root with findings stays a suspect, so that every poll audits the root's file.
    if (file === undefined || file.findings.length + own.length > 0) waiting.add(root);
    else if (root !== known) newRoots.set(user.userID, root);
  }

  for (const root of waiting) {
    const file = isLate() ? files.known(root, state.unavailable.has(root)) : await files.load(root);
    if (file === undefined || file.findings.length > 0) suspects.add(root);
    const found = checkWatchedUsers(users, root, file?.users);
    findings.push(...found.filter(({ message }) => !findings.some((known) => known.message === message)));
  }
  findings.push(...files.findings);

  const unavailable = files.unavailable.map((file) => {
    const since = Math.min(state.unavailable.get(file.root) ?? Infinity, now());
    return { ...file, since };
  });
  findings.push(...auditUnavailable(unavailable, options, roots));
  state.save({
    cursor,
    newRoots,
    suspects: [...suspects],
    unavailable: new Map(unavailable.map(({ root, since }) => [root, since])),
  });
  return { published: Array.from(newRoots, ([userID, root]) => ({ userID, root })), unavailable, findings };
}

/** The files of one poll. Each file is read at most once. */
class PolledFiles {
  readonly #source: FileSource;
  readonly #keyType: KeyType | undefined;
  readonly #files = new Map<string, FileAudit | undefined>();
  readonly unavailable: UnavailableFile[] = [];
  #failures = 0;
  #lastFailure: Pick<UnavailableFile, "code" | "message"> = { code: "TIMEOUT", message: "" };

  constructor(source: FileSource, keyType: KeyType | undefined) {
    this.#source = source;
    this.#keyType = keyType;
  }

  get findings(): Finding[] {
    return [...this.#files.values()].flatMap((file) => file?.findings ?? []);
  }

  get count(): number {
    return this.#files.size;
  }

  /** Returns a file if this poll has read the file. @param isUnavailable true to count the file as unavailable otherwise */
  known(root: string, isUnavailable: boolean): FileAudit | undefined {
    if (isUnavailable && !this.#files.has(root)) {
      const message = "It was not requested in this poll, because other files took too long.";
      this.unavailable.push({ root, code: "TIMEOUT", message });
      this.#files.set(root, undefined);
    }
    return this.#files.get(root);
  }

  /** Reads and audits the file of a root, once per poll. @returns undefined if the file is unavailable */
  async load(root: string): Promise<FileAudit | undefined> {
    if (!this.#files.has(root)) this.#files.set(root, await this.#read(root));
    return this.#files.get(root);
  }

  async #read(root: string): Promise<FileAudit | undefined> {
    if (this.#failures >= MAX_FAILURES) {
      const { code, message } = this.#lastFailure;
      const reason = `It was not requested, because ${MAX_FAILURES} files before it were unavailable. ${message}`;
      this.unavailable.push({ root, code, message: reason });
      return undefined;
    }
    const result = await loadFile({ root }, this.#source, this.#keyType);
    if (result.kind === "unavailable") {
      const { code, message } = result;
      this.unavailable.push({ root, code, message });
      this.#lastFailure = { code, message };
      this.#failures++;
      return undefined;
    }
    if (result.kind === "unchanged") throw new RangeError("A file without a known hash is unchanged.");
    this.#failures = 0;
    return result;
  }
}

/** Reports files that have been unavailable for too long. @param roots the roots of the watched users */
function auditUnavailable(
  files: readonly MissedFile[],
  { users, unavailableAfterMs = UNAVAILABLE_AFTER_MS, now = Date.now }: PollOptions,
  roots: UserReading["roots"],
): Finding[] {
  return files.flatMap(({ root, code, message, since }) => {
    if (now() - since < unavailableAfterMs) return [];
    const owners = users.filter((_, i) => roots[i] === root).map(({ userID }) => userID);
    const [userID] = owners;
    const whose =
      userID === undefined
        ? "It may contain false keys of watched users"
        : `The key of the user ${userID}${owners.length > 1 ? ` and the keys of ${plural(owners.length - 1, "other user")}` : ""} with this root cannot be checked`;
    const text = `The file of ${root} has been unavailable since ${new Date(since).toISOString()}. ${whose}. ${code}: ${message}`;
    return [finding("FILE_UNAVAILABLE", text, { root, userID, detail: code })];
  });
}
