import { groupBy } from "../engine/groupBy.ts";
import { KeyrootError, VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { checkInteger, optional } from "../input/options.ts";
import type { MerkleFile } from "../merkle/fileOf.ts";
import { asCache } from "../store/access.ts";
import { checkStore, type Store } from "../store/store.ts";
import { batchingCaller } from "../transport/batches.ts";
import type { rpcCaller } from "../transport/jsonRpc.ts";
import { type CachedKey, forgetKey, isAccepted, loadCachedKey, sourceOf, storeKey, verifyCachedKey } from "./cache.ts";
import type { Contact } from "./contacts.ts";
import { type CachedAnswer, contradicts } from "./equivocation.ts";
import { advise } from "./milderAdvice.ts";
import { type KeyOptions, type KeyQuery, parseKeyQuery } from "./options.ts";
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

/** A user's verified root. The root's file is not verified yet. */
interface FoundRoot {
  query: KeyQuery;
  reading: RootReading;
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
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
  const { registry, source, servers, now } = config;
  const store = optional(checkStore, "The cache option", uncheckedCache);
  let cacheError: KeyrootError | undefined;
  const failed = (error: KeyrootError) => {
    cacheError = error;
  };
  const cache = store && asCache("The cache", store, servers.network.limits.timeoutMs, failed);
  checkInteger("The recheckMs option", recheckMs, 0);

  /** Compares a new answer with the cached answer. @throws VerificationError EQUIVOCATION */
  const compareWithCache = async (
    query: KeyQuery,
    cached: CachedKey | undefined,
    root: string | undefined,
    { evidence }: Pick<RootReading, "evidence">,
  ): Promise<{ contradicts?: CachedAnswer }> => {
    if (!cache || !cached || !contradicts(query, cached, root, evidence)) return {};
    await forgetKey(cache, query);
    return { contradicts: { root: cached.root, evidence: cached.evidence, final: cached.final } };
  };

  const findContact = async (
    { userID, expectedPublicKey }: Contact,
    servers: VerifierServers,
    names: readonly string[],
  ): Promise<FoundRoot | ContactOutcome> => {
    try {
      const query = parseKeyQuery(registry, userID, expectedPublicKey);
      const cached = cache && (await loadCachedKey(cache, query));
      const isEnough = cached && (await isAccepted(cached, source, names, recheckMs, now()));
      const verified = isEnough && findVerified(query, cached);
      if (verified) return { userID, verified };
      const reading = await readRoot(query, source, servers, now);
      try {
        const root = verifyRoot(query, reading.answers, reading.evidence);
        const comparison = await compareWithCache(query, cached, root, reading);
        const sources = reading.agreed.map((indexes) => indexes.flatMap((index) => names[index] ?? []));
        return { query, root, reading, cached, sources, ...comparison };
      } catch (error) {
        if (!(error instanceof VerificationError) || error.code !== "NOT_PUBLISHED") throw error;
        return { userID, error, ...(await compareWithCache(query, cached, undefined, reading)) };
      }
    } catch (error) {
      return toOutcome(userID, error);
    }
  };

  const verifyUsersOfFile = async (servers: VerifierServers, root: string, users: readonly FoundRoot[]) => {
    const file = servers.fetchFile(root).then((bytes) => parseFile(bytes, root, registry.keyType));
    const outcomes: [FoundRoot, ContactOutcome][] = [];
    for (const user of users) {
      const { query, cached, contradicts } = user;
      const before = contradicts && { contradicts };
      try {
        const verified = await verifyInFile(user, await file);
        if (cache) await storeKey(cache, query, source, verified, cached, { sources: user.sources, storedAt: now() });
        outcomes.push([user, { userID: query.userID, verified, ...before }]);
      } catch (error) {
        outcomes.push([user, { ...toOutcome(query.userID, error), ...before }]);
      }
    }
    return outcomes;
  };

  const verifyAll = async (servers: VerifierServers) => {
    const names = cache ? servers.endpoints.map(sourceOf) : [];
    const found = await Promise.all(contacts.map((contact) => findContact(contact, servers, names)));
    const byRoot = groupBy(
      found.filter((contact) => "root" in contact),
      ({ root }) => root,
    );
    const outcomeOf = new Map<FoundRoot, ContactOutcome>();
    // Four workers share one iterator, so at most four files are in memory. p-map would make apps 1 kB larger.
    const files = byRoot.entries();
    const work = async () => {
      for (const [root, users] of files)
        for (const [user, outcome] of await verifyUsersOfFile(servers, root, users)) outcomeOf.set(user, outcome);
    };
    await Promise.all([work(), work(), work(), work()]);
    const outcomes = found.flatMap((contact) => ("root" in contact ? (outcomeOf.get(contact) ?? []) : contact));
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

async function verifyInFile({ query, root, reading }: FoundRoot, file: MerkleFile): Promise<VerifiedKey> {
  const { contract, chainId } = query;
  const verified = verifyRecord(query, root, file);
  const blockNumber = await readBlockOfRoot(root, reading);
  const evidence = { ...reading.evidence, uniqueness: "checked" } as const;
  return { ...verified, root, blockNumber, contract, chainId, evidence };
}

/** Makes the outcome after a contact's failed verification. @throws any error that is not a KeyrootError */
function toOutcome(userID: UserID, error: unknown): ContactOutcome {
  if (error instanceof KeyrootError) return { userID, error };
  throw error;
}
