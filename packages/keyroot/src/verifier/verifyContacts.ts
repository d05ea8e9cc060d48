import { forEachAtOnce } from "../engine/forEachAtOnce.ts";
import { loadModule } from "../engine/loadModule.ts";
import { groupBy } from "../engine/groupBy.ts";
import { type ErrorCode, KeyrootError, VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { checkFunction, optional } from "../input/options.ts";
import type { MerkleFile } from "../merkle/fileOf.ts";
import { asCache } from "../store/access.ts";
import { batchingCaller } from "../transport/batches.ts";
import { rpcCaller } from "../transport/jsonRpc.ts";
import { type CachedKey, recordOf, sourceOf } from "./cache.ts";
import type { AccountFiles } from "./contactAccounts.ts";
import type { Contact } from "./contacts.ts";
import type { CachedAnswer } from "./equivocation.ts";
import { advise } from "./milderAdvice.ts";
import { checkAccountOption, type KeyOptions, parseKeyQuery } from "./options.ts";
import { readBlockOfRoot, readRoot } from "./readRoot.ts";
import type { RootReading } from "./readRootAtBlock.ts";
import { noteSuccess, type VerifierConfig } from "./verifierConfig.ts";
import { shareEqualCalls } from "./shareEqualCalls.ts";
import { type VerifierServers, withServers } from "./servers.ts";
import { openStoredKeys, type StoredKey, type Target } from "./storedKeys.ts";
import { parseFile, verifyRecord, verifyRoot } from "./verdict.ts";
import type { VerifiedKey } from "./verifiedKey.ts";

/** The options for verifying a contact list. */
export interface ContactListOptions extends Pick<KeyOptions, "signal"> {
  /**
   * A function that is called once for each contact, in any order, as soon as its outcome is known. The verification
   * does not wait for it. If it throws or its promise rejects, the outcome has `onOutcomeError`.
   * @param index the contact's place in the list
   */
  onOutcome?: ((outcome: ContactOutcome, index: number) => unknown) | undefined;
}

/**
 * The outcome for one contact: a verified key, or the error that `verify` would throw. Three more fields may be set,
 * which do not change whether the key is verified:
 * - `contradicts` is an earlier answer from the cache that differs from the new one. One of the answers is false, or
 *   the chain replaced a block before it was final.
 * - `cacheError` is the last error of the cache. Because keys are stored after `onOutcome` is called, it is set when the
 *   call ends, in all outcomes.
 * - `onOutcomeError` is what `onOutcome` threw.
 */
export type ContactOutcome = {
  userID: UserID;
  contradicts?: CachedAnswer;
  cacheError?: KeyrootError;
  onOutcomeError?: unknown;
} & ({ verified: VerifiedKey } | { error: KeyrootError });

/** Maximum number of RPC calls per request. */
const BATCH_SIZE = 50;
/** Maximum number of small Merkle-tree files, and of others, in memory. Both can take 64 MiB by default. */
const SMALL_FILES_AT_ONCE = 64;
const FILES_AT_ONCE = 4;
/** The number of contacts whose file is requested before its root is confirmed. Their files can take 50 MiB more. */
const HINTED_CONTACTS = 50;
/** The size of a small file in bytes. A file of 700 users is small. */
const SMALL_FILE_BYTES = 2 ** 20;
/** The account files with which a contact is verified again, if its file is older than the chain. */
const NEWER_FILES = { known: "next", next: "hosted", hosted: undefined } as const;
const NOTHING_STORED: StoredKey = { cached: undefined, trusted: undefined, alarm: undefined };

/** A user's verified root, whose file is not verified yet. */
interface FoundRoot {
  target: IndexedTarget;
  reading: RootReading;
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /** The request for the root's block number, which all roots of a list share. */
  blockNumber: Promise<number>;
  stored: StoredKey;
  contradicts: CachedAnswer | undefined;
  sources: CachedKey["sources"];
}

/** A contact with its place in the list. */
type IndexedContact = readonly [index: number, contact: Contact];

interface IndexedTarget extends Target {
  /** The contact's place in the list. */
  index: number;
  /** The error ACCOUNT_MISSING, if no account file is known. The target is then slot 0. */
  missing?: KeyrootError;
}

/**
 * Verifies the keys of a contact list, as `Verifier.verifyMany` describes.
 * @param contacts a list that `copyContacts` returned
 * @throws ArgumentError if the options are invalid. No request was sent.
 */
export async function verifyContacts(
  config: VerifierConfig,
  contacts: readonly Contact[],
  { onOutcome, signal }: ContactListOptions,
): Promise<ContactOutcome[]> {
  const { registry, source, servers, now, verifyAccountFile } = config;
  optional(checkFunction, "The onOutcome option", onOutcome);
  let cacheError: KeyrootError | undefined;
  const failed = (error: KeyrootError) => {
    cacheError = error;
  };
  const store = config.cache && asCache("The cache", config.cache.store, servers.network.limits.timeoutMs, failed);
  const names = store ? servers.endpoints.map(sourceOf) : [];
  const keys = store && openStoredKeys(config, store, names);
  const accounts = verifyAccountFile && (await loadModule(() => import("./contactAccounts.ts")));
  const outcomes: ContactOutcome[] = [];
  /** The contacts of whom the cache has something. */
  const known = new Set<number>();
  /** The downloads that began before their roots were confirmed, by root. */
  const hinted = new Map<string, Promise<Uint8Array>>();
  let hintedContacts = 0;
  const { fileBytes } = config.servers.network.limits;
  const smallBytes = Math.min(SMALL_FILE_BYTES, fileBytes);
  /** The times when the chain first showed that contacts have no key, as the cache says. */
  const absentSince = new Map<number, number>();

  const settle = (index: number, outcome: ContactOutcome) => {
    if ("verified" in outcome) noteSuccess(config);
    else {
      const knownSince = contacts[index]?.knownSince ?? absentSince.get(index);
      advise(outcome.error, config, knownSince, known.has(index));
    }
    outcomes[index] = outcome;
    if (!onOutcome) return;
    const report = Promise.resolve(index).then((index) => onOutcome(outcome, index));
    report.catch((error: unknown) => {
      outcome.onOutcomeError = error;
    });
  };
  const toOutcome = async (target: IndexedTarget, error: unknown, contradicts?: CachedAnswer) => {
    if (!(error instanceof KeyrootError)) throw error;
    await keys?.noteError(target, error, !!contradicts);
    if (keys && error.code === "NOT_PUBLISHED") absentSince.set(target.index, await keys.noteAbsence(target));
    return outcomeOf(target, { error }, contradicts);
  };

  /** Returns where the contract must show each contact's key. If this fails for a contact, its outcome is settled. */
  const findTargets = async (
    list: readonly IndexedContact[],
    servers: VerifierServers,
    end: (index: number, outcome: ContactOutcome) => void,
    files: AccountFiles,
  ): Promise<IndexedTarget[]> => {
    const targets: (IndexedTarget & Pick<Contact, "account">)[] = [];
    for (const [index, { userID, expectedPublicKey, account }] of list) {
      try {
        checkAccountOption(config, account);
        const query = parseKeyQuery(registry, userID, expectedPublicKey);
        targets.push({ index, userID, query, slot: undefined, account });
      } catch (error) {
        if (!(error instanceof KeyrootError)) throw error;
        end(index, { userID, error });
      }
    }
    if (!accounts) return targets;
    const slots = await accounts.findContactSlots(config, targets, { servers, cache: store, files });
    return targets.flatMap(({ index, userID, query }, i) => {
      const slot = slots[i];
      if (slot && !("code" in slot)) return { index, userID, query: slot.query, slot };
      if (slot && files === "known" && accounts.isMissing(slot))
        return { index, userID, query, slot: undefined, missing: slot };
      if (slot) end(index, { userID, error: slot });
      return [];
    });
  };

  const findRoot = async (
    target: IndexedTarget,
    { calls, http, fetchFile }: VerifierServers,
  ): Promise<FoundRoot | ContactOutcome> => {
    const { query, slot, missing } = target;
    const stored = keys ? await keys.load(target) : NOTHING_STORED;
    if (stored.cached || stored.alarm !== undefined) known.add(target.index);
    if (accounts && missing) {
      const read = () => readRoot(query, source, { calls, http }, now);
      const isKnown = known.has(target.index);
      return toOutcome(target, isKnown ? missing : await accounts.explainMissing(missing, query, store, read));
    }
    const permanent = keys?.findPermanent(target, stored);
    if (permanent) return outcomeOf(target, { verified: permanent });
    let reading: RootReading;
    try {
      const fetchHinted = (root: string) => {
        const download = hinted.get(root) ?? fetchFile(root, contacts.length === 1 ? fileBytes : smallBytes);
        hinted.set(root, download);
        return download;
      };
      // The file of a key in the cache is rarely needed again.
      const isHinted = !stored.cached && hintedContacts++ < HINTED_CONTACTS;
      reading = await readRoot(query, source, { calls, http }, now, isHinted ? fetchHinted : undefined);
    } catch (error) {
      const verified = findOffline(target, stored, error);
      return verified ? outcomeOf(target, { verified }) : toOutcome(target, error);
    }
    const { answers, evidence } = reading;
    let contradicts: CachedAnswer | undefined;
    try {
      const root = accounts && slot ? accounts.verifySlotRoot(slot, reading) : verifyRoot(query, answers, evidence);
      const blockNumber = readBlockOfRoot(root, reading);
      // The verdict about the file comes first, as in `verifyKey`.
      blockNumber.catch(() => undefined);
      contradicts = await keys?.compare(target, stored, root, evidence);
      const sources = reading.agreed.map((indexes) => indexes.flatMap((index) => names[index] ?? []));
      return { target, root, blockNumber, reading, stored, sources, contradicts };
    } catch (error) {
      let verdict = error;
      if (error instanceof VerificationError && error.code === "NOT_PUBLISHED")
        try {
          contradicts = await keys?.compare(target, stored, undefined, evidence);
        } catch (equivocation) {
          verdict = equivocation;
        }
      return toOutcome(target, verdict, contradicts);
    }
  };

  /**
   * Returns a stored key because the chain cannot be read. With accounts, it must be the key that the account
   * authorized.
   */
  const findOffline = ({ slot }: Target, stored: StoredKey, error: unknown) => {
    const key = keys?.findOffline(stored, error);
    if (!key || !accounts || !slot) return key;
    try {
      return { ...key, account: accounts.verifyAuthorizedKey(slot, key, key.evidence) };
    } catch {
      return undefined;
    }
  };

  /** Verifies a user's record in the root's file, and stores the verified key in the cache. */
  const verifyUser = async (found: FoundRoot, readFile: () => Promise<MerkleFile>): Promise<VerifiedKey> => {
    const { target, root, reading, stored, sources } = found;
    const { query, slot } = target;
    const { contract, chainId } = query;
    // A verified record stays true as long as the root is the same, so the file is not fetched again.
    const known = stored.cached?.root === root ? recordOf(query, stored.cached) : undefined;
    const record = known ?? {
      ...verifyRecord(query, root, await readFile()),
      ...{ root, blockNumber: await found.blockNumber, contract, chainId },
    };
    const verified: VerifiedKey = { ...record, evidence: { ...reading.evidence, uniqueness: "checked" } };
    const account = accounts && slot && accounts.verifyAuthorizedKey(slot, verified, verified.evidence);
    keys?.save(target, verified, stored, sources);
    if (!account) return verified;
    const { changedFrom } = slot;
    return { ...verified, account: changedFrom === undefined ? account : { ...account, changedFrom } };
  };

  const verifyUsersOfFile = async (fetchFile: () => Promise<Uint8Array>, users: readonly FoundRoot[], root: string) => {
    let file: Promise<MerkleFile> | undefined;
    const readFile = () => (file ??= fetchFile().then((bytes) => parseFile(bytes, root, registry.keyType)));
    const results: [FoundRoot, ContactOutcome][] = [];
    for (const user of users) {
      const { target, contradicts } = user;
      try {
        const verified = await verifyUser(user, readFile);
        results.push([user, outcomeOf(target, { verified }, contradicts)]);
      } catch (error) {
        results.push([user, await toOutcome(target, error, contradicts)]);
      }
    }
    return results;
  };

  /**
   * Verifies contacts with one kind of account files. Those whose file is too old are then verified with the next kind,
   * until all outcomes are settled.
   * @param before the outcomes of these contacts with the earlier kind
   */
  const verifyList = async (
    list: readonly IndexedContact[],
    servers: VerifierServers,
    files: AccountFiles = "known",
    before: ReadonlyMap<number, ContactOutcome> = new Map(),
  ) => {
    const newerFiles = NEWER_FILES[files];
    const unproven = new Map<number, ContactOutcome>();
    const end = (index: number, outcome: ContactOutcome) => {
      // That the chain refuted an older file says more than that the file host has no newer one.
      const isMissing = isError(outcome, "ACCOUNT_MISSING");
      const newest = isMissing ? (before.get(index) ?? outcome) : outcome;
      if (newerFiles && isError(newest, "SUCCESSOR_UNPROVEN")) unproven.set(index, newest);
      else settle(index, newest);
    };
    const roots: FoundRoot[] = [];
    const find = async (target: IndexedTarget) => {
      const found = await findRoot(target, servers);
      if ("root" in found) roots.push(found);
      else end(target.index, found);
    };
    await Promise.all((await findTargets(list, servers, end, files)).map(find));
    roots.sort((a, b) => a.target.index - b.target.index);
    /** Verifies files, and returns those with more than `maxBytes`. */
    const verifyFiles = async (count: number, files: Iterable<[string, FoundRoot[]]>, maxBytes: number) => {
      const larger: [string, FoundRoot[]][] = [];
      await forEachAtOnce(count, files, async ([root, users]) => {
        const started = maxBytes === smallBytes ? hinted.get(root) : undefined;
        const fetchFile = () => started ?? servers.fetchFile(root, maxBytes);
        const results = await verifyUsersOfFile(fetchFile, users, root);
        const isTooLarge = results.some(([, outcome]) => isError(outcome, "ANSWER_TOO_LARGE"));
        if (isTooLarge && maxBytes < fileBytes) larger.push([root, users]);
        else for (const [{ target }, outcome] of results) end(target.index, outcome);
      });
      return larger;
    };
    const byRoot = groupBy(roots, ({ root }) => root);
    const larger = await verifyFiles(SMALL_FILES_AT_ONCE, byRoot, smallBytes);
    await verifyFiles(FILES_AT_ONCE, larger, fileBytes);
    const again = list.filter(([index]) => unproven.has(index));
    if (newerFiles && again.length > 0) await verifyList(again, servers, newerFiles, unproven);
  };

  const connect: typeof rpcCaller = (rpc, options) =>
    shareEqualCalls(contacts.length === 1 ? rpcCaller(rpc, options) : batchingCaller(rpc, BATCH_SIZE, options));
  await withServers(servers, (servers) => verifyList([...contacts.entries()], servers), { signal, connect });
  await store?.close();
  if (cacheError) for (const outcome of outcomes) outcome.cacheError = cacheError;
  return outcomes;
}

/**
 * Verifies a single key, as `Verifier.verify` describes, with the cache and with accounts.
 * @param contacts a list of one contact that `copyContacts` returned
 * @throws the error of the outcome
 */
export async function verifyContact(
  config: VerifierConfig,
  contacts: readonly Contact[],
  signal: AbortSignal | undefined,
): Promise<VerifiedKey> {
  const [outcome] = (await verifyContacts(config, contacts, { signal })) as [ContactOutcome];
  if ("error" in outcome) throw outcome.error;
  const { verified, contradicts } = outcome;
  return contradicts ? { ...verified, contradicts } : verified;
}

function outcomeOf(
  { userID }: Target,
  result: { verified: VerifiedKey } | { error: KeyrootError },
  contradicts?: CachedAnswer,
): ContactOutcome {
  return contradicts ? { userID, ...result, contradicts } : { userID, ...result };
}

function isError(outcome: ContactOutcome, code: ErrorCode): boolean {
  return "error" in outcome && outcome.error.code === code;
}
