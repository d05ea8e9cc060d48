/** The comparison of records with the keys that are already published for their users. */
import { KeyrootError } from "keyroot/internal/errors";
import type { KeyRecord, KeyType, UserID } from "keyroot/internal/identity";
import { makeMerkleFile, parseMerkleFile } from "keyroot/internal/merkle";
import { DEFAULT_LIMITS } from "keyroot/internal/transport";
import { ArgumentError, VerificationError } from "../../errors.ts";
import type { FetchFile, UserRoot } from "../../follow/index.ts";
import type { RecordTable } from "../records/recordTable.ts";
import type { Batch } from "./plan.ts";

/** A user whose published key, which cannot be changed, is not the one in the records. */
export interface KeyDifference {
  userID: UserID;
  /** The root of the published key's file: 64 lowercase hex digits. */
  root: string;
  /** The key id of the published key. */
  publishedKeyID: string;
  /** The key id in the records. */
  keyID: string;
  /** The line number of the record. Undefined for a record that is only in an unfinished plan. */
  line?: number | undefined;
}

/** The result of a comparison, as an event of `publish`. */
export type CompareEvent =
  /** The published keys of some users are not those in the records. */
  | { event: "keyDiffers"; users: KeyDifference[] }
  /** The published keys of users with this root could not be compared with the records. `message` has the reason. */
  | { event: "notCompared"; root: string; users: number; code: string; message: string };

export interface CompareContext {
  fetchFile: FetchFile;
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType: KeyType | undefined;
  /** Returns the number of the line with a user's record. */
  lineOf: (userID: UserID) => number | undefined;
  emit: (event: CompareEvent) => void;
}

/** The maximum number of users in a message. */
const NAMED = 20;

/**
 * Compares records with the published file of their users. If the tree of these records has the same root as the file,
 * the file contains exactly these records. It is fetched only if the root is different.
 * @param given the records of users who have this root, sorted by user id
 * @throws VerificationError USER_NOT_IN_FILE, and the errors of `fetchFile` and `parseMerkleFile`
 */
async function compareKeys(
  root: string,
  given: readonly KeyRecord[],
  { fetchFile, keyType, lineOf }: CompareContext,
): Promise<KeyDifference[]> {
  if (makeMerkleFile(given, keyType).tree.root === root) return [];
  const file = parseMerkleFile(await fetchFile(root, DEFAULT_LIMITS.fileBytes), root, keyType);
  const published = new Map(file.records.map((record) => [record.userID, record]));
  return given.flatMap((record) => {
    const found = published.get(record.userID);
    if (found === undefined) {
      const message = `The file ${root}.json has no record of the user ${record.userID}, who has this root. The operator published a wrong list.`;
      throw new VerificationError("file", "USER_NOT_IN_FILE", message, { actual: record.userID });
    }
    return differenceOf(root, found, record, lineOf);
  });
}

/**
 * Returns the difference between a user's published key and the user's key in the records. If the keys are equal, the
 * list is empty.
 */
export function differenceOf(
  root: string,
  published: KeyRecord,
  { userID, pubKey, keyID }: KeyRecord,
  lineOf: CompareContext["lineOf"],
): KeyDifference[] {
  if (published.pubKey === pubKey) return [];
  return [{ userID, root, publishedKeyID: published.keyID, keyID, line: lineOf(userID) }];
}

/** The error for users with other published keys. @param differences at least one */
export function keyDiffers(differences: readonly KeyDifference[]): VerificationError {
  const [first] = differences;
  const users = differences.slice(0, NAMED).map(({ userID, publishedKeyID, keyID, line }) => {
    const where = line === undefined ? "" : `line ${line}: `;
    return `${userID} (${where}key id ${publishedKeyID} on the chain, ${keyID} in the records)`;
  });
  const more = differences.length > NAMED ? ` and ${differences.length - NAMED} more` : "";
  const message =
    `Another key is published for ${users.join(", ")}${more}. A published key cannot be changed, so these records were not ` +
    "published. Find out which key is right. If the published key is right, correct the records. If it is wrong, give the " +
    "user a new user id.";
  return new VerificationError("record", "KEY_DIFFERS", message, {
    expected: first?.keyID,
    actual: first?.publishedKeyID,
  });
}

/**
 * Checks that a published file has keys of the type that is configured for the registry. If the file cannot be read,
 * the check passes.
 * @throws ArgumentError KEY_TYPE_MISMATCH
 */
export async function checkPublishedType(root: string, { fetchFile, keyType }: CompareContext): Promise<void> {
  try {
    parseMerkleFile(await fetchFile(root, DEFAULT_LIMITS.fileBytes), root, keyType);
  } catch (error) {
    if (!(error instanceof KeyrootError) || error.code === "ABORTED") throw error;
    if (error.code === "KEY_TYPE_MISMATCH") throw otherType(root, error);
  }
}

/** The error for records whose key type differs from that of the published keys. */
function otherType(root: string, cause: KeyrootError): ArgumentError {
  const message =
    `The registry already has keys of another type than the records, in the file ${root}.json: ${cause.message} All keys of ` +
    "a registry have one type, so nothing new was published.";
  return new ArgumentError("KEY_TYPE_MISMATCH", message, { cause });
}

/** Collects the users of records who have a root, and compares the records with the published keys. */
export class PublishedUsers {
  readonly #positionsOf = new Map<string, number[]>();

  /** Adds the selected users. @param positions the positions of the users' records */
  add(users: readonly UserRoot[], positions: readonly number[], isSelected: (user: UserRoot) => boolean): void {
    for (const [i, user] of users.entries()) {
      const position = positions[i];
      if (position === undefined || !isSelected(user)) continue;
      const ofRoot = this.#positionsOf.get(user.root);
      if (ofRoot === undefined) this.#positionsOf.set(user.root, [position]);
      else ofRoot.push(position);
    }
  }

  /**
   * Compares the records of the added users with their published keys, and emits the events `keyDiffers` and
   * `notCompared`.
   * @throws ArgumentError KEY_TYPE_MISMATCH if published keys have another type; errors without a code, and ABORTED
   */
  async compare(records: RecordTable, context: CompareContext): Promise<KeyDifference[]> {
    const differences: KeyDifference[] = [];
    for (const [root, positions] of this.#positionsOf) {
      const given = records.recordsAt(positions);
      differences.push(...(await compareAndEmit(root, given, context, otherType)));
    }
    return differences;
  }
}

/**
 * Compares the keys of users whose root another publisher added first. The keys in the batch's own file are compared
 * with the keys that the other publisher published.
 * @throws the errors of `fetchFile` and `parseMerkleFile` for the file of the batch
 */
export async function compareSuperseded(
  { root, fileBytes }: Pick<Batch, "root" | "fileBytes">,
  superseded: readonly UserRoot[],
  context: CompareContext,
): Promise<KeyDifference[]> {
  if (superseded.length === 0) return [];
  const { records } = parseMerkleFile(await context.fetchFile(root, fileBytes), root, context.keyType);
  const rootOf = new Map(superseded.map((user) => [user.userID, user.root]));
  const differences: KeyDifference[] = [];
  const ofRoot = Map.groupBy(records, ({ userID }) => rootOf.get(userID));
  for (const [other, some] of ofRoot)
    if (other !== undefined) differences.push(...(await compareAndEmit(other, some, context)));
  return differences;
}

/**
 * Compares the records of users who have the same root. If the file of this root cannot be read, the event
 * `notCompared` is emitted, and publishing and the other comparisons continue.
 * @param toError makes the error for a file with keys of another type. Default: such a file is not compared
 */
async function compareAndEmit(
  root: string,
  given: readonly KeyRecord[],
  context: CompareContext,
  toError?: typeof otherType,
): Promise<KeyDifference[]> {
  const { emit } = context;
  try {
    const users = await compareKeys(root, given, context);
    if (users.length > 0) emit({ event: "keyDiffers", users });
    return users;
  } catch (error) {
    if (!(error instanceof KeyrootError) || error.code === "ABORTED") throw error;
    if (toError !== undefined && error.code === "KEY_TYPE_MISMATCH") throw toError(root, error);
    emit({ event: "notCompared", root, users: given.length, code: error.code, message: error.message });
    return [];
  }
}
