import { forEachAtOnce } from "../engine/forEachAtOnce.ts";
import { decodeUtf8 } from "../engine/utf8.ts";
import { KeyrootError, VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import type { SafeStore } from "../store/access.ts";
import { loadNote } from "./cache.ts";
import type { Contact } from "./contacts.ts";
import type { KeyQuery } from "./options.ts";
import type { VerifierServers } from "./servers.ts";
import type { VerifierConfig } from "./verifierConfig.ts";
import { accountFileBytes, type AccountSlot, fetchHostedFile, findSlot } from "./accountSlot.ts";
import type { RootReading } from "./readRootAtBlock.ts";
import { verifyRoot } from "./verdict.ts";

export { isMissing, verifyAuthorizedKey, verifySlotRoot } from "./accountSlot.ts";

/** Maximum number of account files that are read at the same time. */
const FILES_AT_ONCE = 8;

/** The slot of a contact's newest known key. */
export interface ContactSlot extends AccountSlot {
  /** The account file that names the slot. */
  file: string;
  /** The number of the key in the cache, if it was another one. */
  changedFrom: number | undefined;
}

/**
 * The origin of account files. If a file turns out to be too old, the next origin is tried:
 * - `known` is the file of the app or its cache. If there is none, it is the file that the file host serves to
 *   everyone.
 * - `next` is the file host's file with a change that is being published.
 * - `hosted` is the file that the file host serves to everyone.
 */
export type AccountFiles = "known" | "next" | "hosted";

/** A contact, and the query for its account. */
export interface AccountContact extends Pick<Contact, "account"> {
  query: KeyQuery;
}

/**
 * Finds the slots of a contact list. For each contact, it uses the app's account file or the cached one, whichever is
 * newer. If there is neither, the file is fetched from the file host.
 *
 * An account file is never used if its key is older than the key of the cached file. Otherwise, someone who stole the
 * recovery keys could declare the newest slot void. An older key would then be valid again, although nothing was
 * published.
 * @param cache a store with account files only of keys that were verified on the chain
 * @returns a slot or an error for each contact, in the order of the list
 */
export async function findContactSlots(
  config: VerifierConfig,
  contacts: readonly AccountContact[],
  { servers, cache, files }: { servers: VerifierServers; cache: SafeStore | undefined; files: AccountFiles },
): Promise<(ContactSlot | KeyrootError)[]> {
  const hosted = new Map<UserID, Promise<Uint8Array>>();
  const fetchFile = (query: KeyQuery) => {
    const file = hosted.get(query.userID) ?? fetchHostedFile(query, servers, files === "next" ? ".next" : "");
    hosted.set(query.userID, file);
    return file;
  };
  const isFirst = files === "known";
  // All files are read from the cache at the same time, so that a slow cache does not delay each contact.
  const cachedFiles = contacts.map(({ query }) => cache && loadNote(cache, query, "account"));
  const find = async (i: number, { query, account }: AccountContact): Promise<ContactSlot> => {
    const cached = findCachedSlot(config, query, await cachedFiles[i]);
    const known = !isFirst || account === undefined ? undefined : accountFileBytes(account);
    if (known === undefined && cached && isFirst) return cached;
    const bytes = known ?? (await fetchFile(query));
    const slot = { ...findSlot(config, query, bytes), file: decodeUtf8(bytes), changedFrom: undefined };
    if (cached === undefined || slot.key.number > cached.key.number)
      return cached === undefined ? slot : { ...slot, changedFrom: cached.key.number };
    if (slot.key.number === cached.key.number)
      return isFirst && cached.key.nextNumber > slot.key.nextNumber ? cached : slot;
    if (isFirst) return cached;
    throw olderThanVerified(slot, cached);
  };
  const found: (ContactSlot | KeyrootError)[] = [];
  await forEachAtOnce(FILES_AT_ONCE, contacts.entries(), async ([i, contact]) => {
    try {
      found[i] = await find(i, contact);
    } catch (error) {
      if (!(error instanceof KeyrootError)) throw error;
      found[i] = error;
    }
  });
  return found;
}

/**
 * Finds the error for a user whose account file is missing. The id of slot 0 is the user id, so its root can be read
 * without the file. If it has none and the cache knows nothing of the user, no key is published, because owners sign
 * each key only after the key before it is published. In all other cases, the error stays ACCOUNT_MISSING.
 * @param query the user's slot 0
 * @param read reads the root of slot 0 with the evidence that the verifier's trust requires
 */
export async function explainMissing(
  missing: KeyrootError,
  query: KeyQuery,
  cache: SafeStore | undefined,
  read: () => Promise<RootReading>,
): Promise<KeyrootError> {
  // A damaged account file in the cache also shows that a key of the user was verified.
  if (cache && (await loadNote(cache, query, "account")) !== undefined) return missing;
  try {
    const { answers, evidence } = await read();
    verifyRoot(query, answers, evidence);
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    if (error.code === "NOT_PUBLISHED") return error;
  }
  return missing;
}

function olderThanVerified({ account, key }: AccountSlot, cached: AccountSlot): VerificationError {
  const [actual, expected] = [key.number, cached.key.number];
  const message = `The account file is for key ${actual} of the account ${account.userID}, but key ${expected} was verified before. Get the account's newest statement.`;
  return new VerificationError("file", "SUCCESSOR_UNPROVEN", message, { expected, actual });
}

/** Returns the slot of a cached account file, or undefined if the file is missing or damaged. */
function findCachedSlot(config: VerifierConfig, query: KeyQuery, file: string | undefined): ContactSlot | undefined {
  if (file === undefined) return undefined;
  try {
    return { ...findSlot(config, query, accountFileBytes(file)), file, changedFrom: undefined };
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}
