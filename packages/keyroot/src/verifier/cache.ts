import { normalizeUrl } from "../engine/parseUrl.ts";
import { VerificationError } from "../errors.ts";
import { isObject } from "../input/values.ts";
import { verifyKeyRecord } from "../identity/checkKeyRecord.ts";
import { type KeyRecord, parseSerializedRecord } from "../identity/serializedRecord.ts";
import { serializeKeyRecord } from "../identity/serializeKeyRecord.ts";
import { MAX_AHEAD_MS } from "../ethereum/blockAge.ts";
import { isMerkleRoot } from "../merkle/hash.ts";
import type { Evidence } from "../evidence.ts";
import type { SafeStore } from "../store/access.ts";
import type { BlockSource, BlockTag } from "../trust/blockSource.ts";
import { sha256Hex } from "../bytes/sha256.ts";
import { type CachedAnswer, isStronger, strengthOf } from "./equivocation.ts";
import type { Endpoint, KeyQuery } from "./options.ts";
import type { VerifiedKey } from "./verifiedKey.ts";

export interface CachedKey extends CachedAnswer {
  index: number;
  blockNumber: number;
  record: KeyRecord;
  /**
   * Two lists of endpoint names from `sourceOf`. The first one has the endpoints that agreed on the block, and the
   * second one those that agreed on the answer.
   */
  sources: readonly (readonly string[])[];
  /** The time at which the key was stored, in ms since 1970. */
  storedAt: number;
  /** The required confirmation state of the block at which the root was read. */
  tag: BlockTag;
  /** The slot that had to be empty at this block, for the key of an account. */
  nextSlotID?: string | undefined;
}

const FORMAT = "keyroot-cache-v5";
/** The confirmation states, from the weakest to the strongest. */
const TAGS: readonly BlockTag[] = ["latest", "safe", "finalized"];
/** The time in ms after which the unproven answer of a single endpoint is read again. */
const RECHECK_MS = 3_600_000;

/** The names of EIP-1193 providers, which have no URL. They are valid only in this process. */
const providers = new WeakMap<object, string>();

/**
 * Returns a name for an endpoint, which is always the same for the same URL. It does not contain the URL itself,
 * because the URL may include a secret.
 */
export function sourceOf(endpoint: Endpoint): string {
  if (typeof endpoint === "string") {
    return sha256Hex(normalizeUrl(endpoint));
  }
  const name = providers.get(endpoint) ?? `${Math.random()}${Math.random()}`;
  providers.set(endpoint, name);
  return name;
}

/** Loads the cached key of a user. An unreadable entry causes a new request. */
export async function loadCachedKey(cache: SafeStore, query: KeyQuery): Promise<CachedKey | undefined> {
  const text = await cache.get(entryName(query));
  if (text === undefined) return undefined;
  try {
    const entry: unknown = JSON.parse(text);
    if (!isObject(entry) || entry["format"] !== FORMAT) return undefined;
    const { root, index, blockNumber, evidence, sources, storedAt, tag, nextSlotID } = entry as unknown as CachedKey;
    const record = parseSerializedRecord(String(entry["record"]), query.keyType);
    const isValid =
      isMerkleRoot(root) &&
      [index, blockNumber, storedAt].every(Number.isSafeInteger) &&
      isObject(evidence) &&
      TAGS.includes(tag) &&
      Array.isArray(sources) &&
      sources.every(Array.isArray);
    if (!isValid || record?.userID !== query.userID) return undefined;
    const final = isFinal(tag, evidence);
    return { root, index, blockNumber, record, evidence, final, sources, storedAt, tag, nextSlotID };
  } catch {
    return undefined;
  }
}

/**
 * Stores a verified key. If the cache already has stronger evidence for the same root, the cached key is kept.
 * @param cached the user's key in the cache
 */
export function storeKey(
  cache: SafeStore,
  query: KeyQuery,
  { tag }: Pick<BlockSource, "tag">,
  key: VerifiedKey,
  cached: CachedKey | undefined,
  { sources, storedAt }: Pick<CachedKey, "sources" | "storedAt">,
): Promise<void> | undefined {
  const { root, index, blockNumber, evidence } = key;
  if (cached?.root === root && isStronger(cached, { root, evidence, final: isFinal(tag, evidence) })) return undefined;
  const record = serializeKeyRecord(key.record);
  const entry = { format: FORMAT, root, index, blockNumber, record, evidence, sources, storedAt, tag };
  return cache.set(entryName(query), JSON.stringify({ ...entry, nextSlotID: query.nextSlotID }), true);
}

/** Checks whether a root was read at a finalized block. */
function isFinal(tag: BlockTag, { block }: Evidence): boolean {
  return tag === "finalized" && block !== undefined;
}

export function forgetKey(cache: SafeStore, query: KeyQuery): Promise<void> {
  return cache.set(entryName(query), "");
}

/**
 * The notes about a user that the cache contains besides keys. They are the account file of the last verified key, the
 * code of an alarm, and the time in ms since 1970 at which the chain first showed no key of the user.
 */
type Note = "account" | "alarm" | "absent";

export async function loadNote(cache: SafeStore, query: KeyQuery, note: Note): Promise<string | undefined> {
  const text = await cache.get(`${entryName(query)}:${note}`);
  return text === "" ? undefined : text;
}

/** Stores a note about a user, or forgets it if `text` is empty. @param isQueued as in `SafeStore.set` */
export function storeNote(
  cache: SafeStore,
  query: KeyQuery,
  note: Note,
  text: string,
  isQueued?: boolean,
): Promise<void> {
  return cache.set(`${entryName(query)}:${note}`, text, isQueued);
}

/**
 * Checks whether a cached key may be used for this query. Its evidence must be at least as strong as the verifier's
 * trust requires.
 * @param current the endpoints of this call, with the names that `sourceOf` returns
 */
export async function meetsTrust(
  { evidence, sources, storedAt, tag, nextSlotID }: CachedKey,
  query: KeyQuery,
  source: BlockSource,
  current: readonly string[],
): Promise<boolean> {
  if (evidence.damage !== undefined || nextSlotID !== query.nextSlotID) return false;
  if (evidence.source !== source.name || (source.storageProof && !evidence.storageProof)) return false;
  if (TAGS.indexOf(tag) < TAGS.indexOf(source.tag) || !isInTime(evidence, source, storedAt)) return false;
  return source.accepts(evidence, countAgreeing(sources, current));
}

/**
 * Checks whether a cached key can be used without a new request. Its root must have been read at a finalized block. A
 * key that is based on the unproven answer of a single endpoint also expires after an hour. The endpoint can then
 * correct a false answer.
 */
export function isPermanent({ evidence, final, storedAt }: CachedKey, source: BlockSource, now: number): boolean {
  if (!final || !isInTime(evidence, source, now)) return false;
  const storedFor = now - storedAt;
  return strengthOf(evidence) > 0 || (storedFor >= 0 && storedFor < RECHECK_MS);
}

/** Checks whether the block of the evidence was not too old, and not in the future, at a time. */
function isInTime({ block }: Evidence, { maxAgeMs = Infinity }: Pick<BlockSource, "maxAgeMs">, time: number): boolean {
  const age = time - (block?.timestamp ?? 0) * 1000;
  return age <= maxAgeMs && age >= -MAX_AHEAD_MS;
}

/**
 * Counts how many of the current endpoints agreed on the block, and how many agreed on the answer. Returns the smaller
 * of the two numbers.
 */
function countAgreeing(sources: CachedKey["sources"], current: readonly string[]): number {
  let least = sources.length === 0 ? 0 : current.length;
  for (const agreed of sources) {
    const known = new Set(agreed);
    let count = 0;
    for (const source of current) if (known.has(source)) count++;
    least = Math.min(least, count);
  }
  return least;
}

/**
 * Returns the cached key if it is valid and equals the expected key. If the result is undefined, the caller must read
 * the chain again.
 */
export function recordOf(query: KeyQuery, { record, index, ...entry }: CachedKey): VerifiedKey | undefined {
  const { contract, chainId } = query;
  const { root, blockNumber, evidence } = entry;
  try {
    const publicKey = verifyKeyRecord("The cached record", record, query.expectedPublicKey, query.keyType);
    return { record, index, publicKey, root, blockNumber, contract, chainId, evidence };
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

/**
 * Returns the name of a user's entry in the cache. The same user has a different entry for each chain, contract, code
 * hash and key type.
 */
function entryName({ chainId, contract, codeHash, keyType, userID }: KeyQuery): string {
  const place = [chainId, contract.toLowerCase(), codeHash ?? "any-code", keyType?.name ?? "curve41417"];
  return ["keyroot", ...place, userID].join(":");
}
