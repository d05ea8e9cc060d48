import { ArgumentError } from "../errors.ts";
import { checkKeyRecord, type KeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { type MerkleFile, parseMerkleFile } from "../merkle/file.ts";
import { checkUsersPerFile, cutIntoFiles, DEFAULT_USERS_PER_FILE } from "./cutIntoFiles.ts";
import type { MerkleFileStore } from "./folderStore.ts";
import type { AddedRoot, RegistryWriter } from "./registryWriter.ts";

/** One root that was added by publishing, and the users who have it now. */
export interface PublishedRoot extends AddedRoot {
  /** 64 hex digits in lower case. */
  root: string;
  userIDs: UserID[];
  /** Where the store keeps the root's file. */
  file: string;
}

/** What publishing did. */
export interface Publication {
  published: PublishedRoot[];
  /** Users who had a root before, or got another in the meantime; it stands, whatever the records say. */
  kept: { userID: UserID; root: string }[];
}

export interface PublishOptions {
  registry: RegistryWriter;
  store: MerkleFileStore;
  /** The most users of one file and transaction; fewer where the chain holds fewer. Default 700. */
  usersPerFile?: number | undefined;
  /** Checks that a stored file is served where clients look for it, before its root is added. */
  checkServed?: ((root: string, bytes: Uint8Array) => Promise<void>) | undefined;
  /** Is told how many users are through with a stage. */
  onProgress?:
    ((stage: "reading roots" | "storing files" | "adding roots", done: number, users: number) => void) | undefined;
}

/**
 * Publishes users' keys: leaves out who has a root already, cuts the others into files that one transaction each can
 * publish, stores all files, reads them back and checks them, and only then adds their roots one after the other.
 *
 * It may end at any time and be run again: who has a root is left out then, and a file without a root harms nobody.
 * @param records one a user
 * @throws ArgumentError NO_RECORDS, ARGUMENT_INVALID, DUPLICATE_USER, and as `checkKeyRecord`; and as store and registry
 */
export async function publish(records: readonly KeyRecord[], options: PublishOptions): Promise<Publication> {
  const { registry, store, usersPerFile = DEFAULT_USERS_PER_FILE, checkServed, onProgress } = options;
  if (records.length === 0) throw new ArgumentError("NO_RECORDS", "There are no records to publish.");
  checkUsersPerFile(usersPerFile);
  records.forEach(checkKeyRecord);

  const all = records.map(userIDOf);
  const roots = await registry.getMerkleTreeRoots(all, (done) => onProgress?.("reading roots", done, all.length));
  const kept = usersWithRoot(all, roots);
  const pending = records.filter((_, i) => roots[i] === undefined);
  if (pending.length === 0) return { published: [], kept };

  const fitting = await registry.usersPerTransaction(pending.map(userIDOf), usersPerFile);
  const files: { file: MerkleFile; path: string }[] = [];
  let stored = 0;
  for (const file of cutIntoFiles(pending, fitting)) {
    const path = await store.put(file);
    const bytes = await store.get(file.tree.root);
    parseMerkleFile(bytes, file.tree.root);
    await checkServed?.(file.tree.root, bytes);
    files.push({ file, path });
    onProgress?.("storing files", (stored += file.records.length), pending.length);
  }

  const published: PublishedRoot[] = [];
  let added = 0;
  for (const { file, path } of files) {
    const userIDs = file.records.map(userIDOf);
    const { root } = file.tree;
    const addedRoot = await registry.addMerkleTreeRoot(root, userIDs);
    // Where somebody else publishes in the owner's name, too, whoever comes first counts.
    const alone = addedRoot.addedCount === userIDs.length;
    const now = alone ? userIDs.map(() => root) : await registry.getMerkleTreeRoots(userIDs);
    kept.push(...usersWithRoot(userIDs, now).filter((user) => user.root !== root));
    published.push({ root, userIDs: userIDs.filter((_, i) => now[i] === root), file: path, ...addedRoot });
    onProgress?.("adding roots", (added += userIDs.length), pending.length);
  }
  return { published, kept };
}

const userIDOf = ({ userID }: KeyRecord): UserID => userID;

function usersWithRoot(userIDs: readonly UserID[], roots: readonly (string | undefined)[]): Publication["kept"] {
  return userIDs.flatMap((userID, i) => (roots[i] === undefined ? [] : [{ userID, root: roots[i] }]));
}
