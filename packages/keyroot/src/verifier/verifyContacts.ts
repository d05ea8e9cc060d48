import { forEachAtOnce } from "../engine/forEachAtOnce.ts";
import { groupBy } from "../engine/groupBy.ts";
import { KeyrootError, VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { checkInteger, optional } from "../input/options.ts";
import type { MerkleFile } from "../merkle/fileOf.ts";
import { asCache } from "../store/access.ts";
import { checkStore, type Store } from "../store/store.ts";
import { batchingCaller } from "../transport/batches.ts";
import type { rpcCaller } from "../transport/jsonRpc.ts";
import {
  type CachedKey,
  forgetKey,
  isAccepted,
  loadCachedKey,
  sourceOf,
  storeAccountFile,
  storeKey,
  verifyCachedKey,
} from "./cache.ts";
import type { AccountFiles, ContactSlot } from "./contactAccounts.ts";
import type { Contact } from "./contacts.ts";
import { type CachedAnswer, contradicts } from "./equivocation.ts";
import { advise } from "./milderAdvice.ts";
import { checkAccountOption, type KeyOptions, type KeyQuery, parseKeyQuery } from "./options.ts";
import { parseFile } from "./parseFile.ts";
import { readBlockOfRoot } from "./readBlockOfRoot.ts";
import { readRoot } from "./readRoot.ts";
import type { RootReading } from "./readRootAtBlock.ts";
import { noteSuccess, type VerifierConfig } from "./verifierConfig.ts";
import { shareEqualCalls } from "./shareEqualCalls.ts";
import { type VerifierServers, withServers } from "./servers.ts";
import { verifyRecord, verifyRoot } from "./verdict.ts";
import type { VerifiedKey } from "./verifiedKey.ts";

/** The options for verifying a contact list. */
export interface ContactListOptions extends Pick<KeyOptions, "signal"> {
  /**
   * The store for verified keys. A later call does not request a stored root again if the root was read at a finalized
   * block. The later call's options must accept the stored evidence and the evidence's endpoints (docs/cache.md).
   */
  cache?: Store | undefined;
  /** The time in ms after which a single endpoint's unproven answer in `cache` is read again. Default: 1 hour. */
  recheckMs?: number | undefined;
}

/**
 * The outcome for one contact: a verified key, or the error that `verify` would throw. `contradicts` is an
 * earlier answer from the cache that differs from the new answer. After a contradiction, one of the answers is false,
 * or the chain replaced a block before the block was final. `cacheError` is the last error of the cache, which does not
 * change the outcomes.
 */
export type ContactOutcome = { userID: UserID; contradicts?: CachedAnswer; cacheError?: KeyrootError } & (
  { verified: VerifiedKey } | { error: KeyrootError }
);

/** Maximum number of RPC calls per request. */
const BATCH_SIZE = 50;
const RECHECK_MS = 3_600_000;
/** Maximum number of small Merkle-tree files, and of others, in memory. Both can take 64 MiB by default. */
const SMALL_FILES_AT_ONCE = 64;
const FILES_AT_ONCE = 4;
/** The size of a small file in bytes. A file of 700 users is small. */
const SMALL_FILE_BYTES = 2 ** 20;

/** A contact whose root the contract must show: its user, or the slot of its account's newest key. */
interface Target {
  userID: UserID;
  query: KeyQuery;
  slot: ContactSlot | undefined;
}

/** A user's verified root. The root's file is not verified yet. */
interface FoundRoot extends Target {
  reading: RootReading;
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /** The request for the root's block number, which all roots of a list share. */
  blockNumber: Promise<number>;
  cached: CachedKey | undefined;
  contradicts?: CachedAnswer;
  sources: CachedKey["sources"];
}

/**
 * Verifies the keys of a contact list, as `Verifier.verifyMany` describes.
 * @param contacts a list that `copyContacts` returned
 * @throws ArgumentError if the options are invalid. In this case, no request was sent.
 */
export async function verifyContacts(
  config: VerifierConfig,
  contacts: readonly Contact[],
  { cache: uncheckedCache, recheckMs = RECHECK_MS, signal }: ContactListOptions,
): Promise<ContactOutcome[]> {
  const { registry, source, servers, now, verifyAccountFile } = config;
  const store = optional(checkStore, "The cache option", uncheckedCache);
  let cacheError: KeyrootError | undefined;
  const failed = (error: KeyrootError) => {
    cacheError = error;
  };
  const cache = store && asCache("The cache", store, servers.network.limits.timeoutMs, failed);
  checkInteger("The recheckMs option", recheckMs, 0);
  const accounts = verifyAccountFile && (await import("./contactAccounts.ts"));

  /** Compares a new answer with the cached answer. @throws VerificationError EQUIVOCATION */
  const compareWithCache = async (
    { query, slot }: Target,
    cached: CachedKey | undefined,
    root: string | undefined,
    { evidence }: Pick<RootReading, "evidence">,
  ): Promise<{ contradicts?: CachedAnswer }> => {
    if (!cache || !cached || !contradicts(query, cached, root, evidence)) return {};
    await forgetKey(cache, query);
    if (slot) await storeAccountFile(cache, slot.account, "");
    return { contradicts: { root: cached.root, evidence: cached.evidence, final: cached.final } };
  };

  /** Returns where the contract must show each contact's key. */
  const findTargets = async (
    list: readonly Contact[],
    servers: VerifierServers,
    files: AccountFiles,
  ): Promise<(Target | ContactOutcome)[]> => {
    const targets = list.map(({ userID, expectedPublicKey, account }) => {
      try {
        checkAccountOption(config, account);
        return { userID, query: parseKeyQuery(registry, userID, expectedPublicKey), slot: undefined, account };
      } catch (error) {
        return toOutcome(userID, error);
      }
    });
    if (!accounts) return targets;
    const valid = targets.filter((target) => "query" in target);
    const slots = await accounts.findContactSlots(config, valid, { servers, cache, files });
    const found = valid.map(({ userID }, i) => {
      const slot = slots[i];
      return slot === undefined || "code" in slot ? toOutcome(userID, slot) : { userID, query: slot.query, slot };
    });
    return targets.map((target) => ("query" in target ? (found[valid.indexOf(target)] ?? target) : target));
  };

  const findRoot = async (
    target: Target,
    servers: VerifierServers,
    names: readonly string[],
  ): Promise<FoundRoot | ContactOutcome> => {
    const { userID, query, slot } = target;
    try {
      const cached = cache && (await loadCachedKey(cache, query));
      // Only the chain shows that an account has no newer key.
      const isEnough = !slot && cached && (await isAccepted(cached, source, names, recheckMs, now()));
      const verified = isEnough && findVerified(query, cached);
      if (verified) return { userID, verified };
      const reading = await readRoot(query, source, servers, now);
      try {
        const { answers, evidence } = reading;
        const root = accounts && slot ? accounts.verifySlotRoot(slot, reading) : verifyRoot(query, answers, evidence);
        const blockNumber = readBlockOfRoot(root, reading);
        // The verdict about the file comes first, as in `verifyKey`.
        blockNumber.catch(() => undefined);
        const comparison = await compareWithCache(target, cached, root, reading);
        const sources = reading.agreed.map((indexes) => indexes.flatMap((index) => names[index] ?? []));
        return { ...target, root, blockNumber, reading, cached, sources, ...comparison };
      } catch (error) {
        if (!(error instanceof VerificationError) || error.code !== "NOT_PUBLISHED") throw error;
        return { userID, error, ...(await compareWithCache(target, cached, undefined, reading)) };
      }
    } catch (error) {
      return toOutcome(userID, error);
    }
  };

  /** Verifies a user's record in the root's file, and stores it in the cache. */
  const verifyUser = async (user: FoundRoot, readFile: () => Promise<MerkleFile>): Promise<VerifiedKey> => {
    const { query, slot, root, reading, cached, sources } = user;
    // A verified record of the same root remains true, so an account's file is not fetched again.
    const known = slot && cached?.root === root ? findVerified(query, cached) : undefined;
    const evidence = { ...reading.evidence, uniqueness: "checked" } as const;
    const verified = known ? { ...known, evidence } : await verifyInFile(user, await readFile());
    if (cache) await storeKey(cache, query, source, verified, cached, { sources, storedAt: now() });
    if (!accounts || !slot) return verified;
    const account = accounts.verifyAuthorizedKey(slot, verified, evidence);
    if (cache) await storeAccountFile(cache, slot.account, slot.file);
    const { changedFrom } = slot;
    return { ...verified, account: changedFrom === undefined ? account : { ...account, changedFrom } };
  };

  const verifyUsersOfFile = async (fetchFile: () => Promise<Uint8Array>, users: readonly FoundRoot[], root: string) => {
    let file: Promise<MerkleFile> | undefined;
    const readFile = () => (file ??= fetchFile().then((bytes) => parseFile(bytes, root, registry.keyType)));
    const outcomes: [FoundRoot, ContactOutcome][] = [];
    for (const user of users) {
      const { userID, contradicts } = user;
      const before = contradicts && { contradicts };
      try {
        outcomes.push([user, { userID, verified: await verifyUser(user, readFile), ...before }]);
      } catch (error) {
        outcomes.push([user, { ...toOutcome(userID, error), ...before }]);
      }
    }
    return outcomes;
  };

  const verifyList = async (list: readonly Contact[], servers: VerifierServers, files: AccountFiles) => {
    const names = cache ? servers.endpoints.map(sourceOf) : [];
    const targets = await findTargets(list, servers, files);
    const found = await Promise.all(
      targets.map(async (target) => ("query" in target ? findRoot(target, servers, names) : target)),
    );
    const byRoot = groupBy(
      found.filter((contact) => "root" in contact),
      ({ root }) => root,
    );
    const outcomeOf = new Map<FoundRoot, ContactOutcome>();
    /** Verifies files, and returns those with more than `maxBytes`. */
    const verifyFiles = async (count: number, files: Iterable<[string, FoundRoot[]]>, maxBytes: number) => {
      const larger: [string, FoundRoot[]][] = [];
      await forEachAtOnce(count, files, async ([root, users]) => {
        const verified = await verifyUsersOfFile(() => servers.fetchFile(root, maxBytes), users, root);
        if (verified.some(([, outcome]) => "error" in outcome && outcome.error.code === "ANSWER_TOO_LARGE"))
          larger.push([root, users]);
        for (const [user, outcome] of verified) outcomeOf.set(user, outcome);
      });
      return larger;
    };
    const { fileBytes } = config.servers.network.limits;
    const larger = await verifyFiles(SMALL_FILES_AT_ONCE, byRoot, Math.min(SMALL_FILE_BYTES, fileBytes));
    if (fileBytes > SMALL_FILE_BYTES) await verifyFiles(FILES_AT_ONCE, larger, fileBytes);
    return found.flatMap((contact) => ("root" in contact ? (outcomeOf.get(contact) ?? []) : contact));
  };

  const verifyAll = async (servers: VerifierServers) => {
    const outcomes = await verifyList(contacts, servers, "known");
    // The file host may have newer account files than the app and the cache.
    const isUnproven = (outcome: ContactOutcome | undefined) => codeOf(outcome) === "SUCCESSOR_UNPROVEN";
    for (const files of ["hosted", "next"] as const) {
      const unproven = contacts.filter((_, i) => isUnproven(outcomes[i]));
      if (unproven.length === 0) break;
      const again = (await verifyList(unproven, servers, files)).values();
      for (const [i, outcome] of outcomes.entries()) {
        if (!isUnproven(outcome)) continue;
        const newer = again.next().value ?? outcome;
        // Only a change that is being published has a file of its own.
        if (files === "hosted" || codeOf(newer) !== "ACCOUNT_MISSING") outcomes[i] = newer;
      }
    }
    if (cacheError) for (const outcome of outcomes) outcome.cacheError = cacheError;
    if (outcomes.some((outcome) => "verified" in outcome)) noteSuccess(config);
    for (const [i, outcome] of outcomes.entries())
      if ("error" in outcome) advise(outcome.error, config, contacts[i]?.knownSince);
    return outcomes;
  };
  const connect: typeof rpcCaller = (rpc, options) => shareEqualCalls(batchingCaller(rpc, BATCH_SIZE, options));
  return withServers(servers, verifyAll, { signal, connect });
}

/**
 * Returns the cached key if the cached key equals the expected key. Returns undefined for any other key, so the caller
 * reads the chain again.
 */
function findVerified(query: KeyQuery, cached: CachedKey): VerifiedKey | undefined {
  try {
    return verifyCachedKey(query, cached);
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

async function verifyInFile({ query, root, reading, blockNumber }: FoundRoot, file: MerkleFile): Promise<VerifiedKey> {
  const { contract, chainId } = query;
  const verified = verifyRecord(query, root, file);
  const evidence = { ...reading.evidence, uniqueness: "checked" } as const;
  return { ...verified, root, blockNumber: await blockNumber, contract, chainId, evidence };
}

function codeOf(outcome: ContactOutcome | undefined): string | undefined {
  return outcome !== undefined && "error" in outcome ? outcome.error.code : undefined;
}

/** Makes the outcome after a contact's failed verification. @throws any error that is not a KeyrootError */
function toOutcome(userID: UserID, error: unknown): ContactOutcome {
  if (error instanceof KeyrootError) return { userID, error };
  throw error;
}
