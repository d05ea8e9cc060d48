import { normalizeUrl } from "../engine/parseUrl.ts";
import { isObject } from "../input/isObject.ts";
import { verifyKeyRecord } from "../identity/checkKeyRecord.ts";
import { type KeyRecord, parseSerializedRecord } from "../identity/serializedRecord.ts";
import { serializeKeyRecord } from "../identity/serializeKeyRecord.ts";
import { MAX_AHEAD_MS } from "../ethereum/blockAge.ts";
import { isMerkleRoot } from "../merkle/hash.ts";
import type { Evidence } from "../evidence.ts";
import type { Store } from "../store/store.ts";
import type { BlockSource } from "../trust/blockSource.ts";
import { sha256Hex } from "../bytes/sha256.ts";
import { type CachedAnswer, isStronger, strengthOf } from "./equivocation.ts";
import type { Endpoint, KeyQuery } from "./options.ts";
import type { VerifiedKey } from "./verifiedKey.ts";

export interface CachedKey extends CachedAnswer {
  index: number;
  blockNumber: number;
  record: KeyRecord;
  /**
   * The names of the endpoints that agreed on the block, and the names of the endpoints that agreed on the answer.
   * `sourceOf` returns these names.
   */
  sources: readonly (readonly string[])[];
  /** The time at which the key was stored, in ms since 1970. */
  storedAt: number;
}

const FORMAT = "keyroot-cache-v4";

/** The names of EIP-1193 providers, which have no URL. The names are valid only in this process. */
const providers = new WeakMap<object, string>();

/**
 * Returns an endpoint's name. The same endpoint always has the same name. The name does not contain the URL, because
 * the URL may contain a secret.
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
export async function loadCachedKey(cache: Store, query: KeyQuery): Promise<CachedKey | undefined> {
  const text = await cache.get(entryName(query));
  if (typeof text !== "string") return undefined;
  try {
    const entry: unknown = JSON.parse(text);
    if (!isObject(entry) || entry["format"] !== FORMAT) return undefined;
    const { root, index, blockNumber, evidence, final, sources, storedAt } = entry as unknown as CachedKey;
    const record = parseSerializedRecord(String(entry["record"]), query.keyType);
    const isValid =
      isMerkleRoot(root) &&
      Number.isSafeInteger(index) &&
      Number.isSafeInteger(blockNumber) &&
      Number.isSafeInteger(storedAt) &&
      isObject(evidence) &&
      typeof final === "boolean" &&
      Array.isArray(sources) &&
      sources.every(Array.isArray);
    if (!isValid || record?.userID !== query.userID) return undefined;
    return { root, index, blockNumber, record, evidence, final, sources, storedAt };
  } catch {
    return undefined;
  }
}

/**
 * Stores a verified key, unless the cache already has stronger evidence for the same root.
 * @param cached the user's key in the cache
 */
export async function storeKey(
  cache: Store,
  query: KeyQuery,
  { tag }: Pick<BlockSource, "tag">,
  key: VerifiedKey,
  cached: CachedKey | undefined,
  { sources, storedAt }: Pick<CachedKey, "sources" | "storedAt">,
): Promise<void> {
  const { root, index, blockNumber, evidence } = key;
  const final = tag === "finalized" && evidence.block !== undefined;
  if (cached?.root === root && isStronger(cached, { root, evidence, final })) return;
  const record = serializeKeyRecord(key.record);
  const entry = { format: FORMAT, root, index, blockNumber, record, evidence, final, sources, storedAt };
  await cache.set(entryName(query), JSON.stringify(entry));
}

export async function forgetKey(cache: Store, query: KeyQuery): Promise<void> {
  await cache.set(entryName(query), "");
}

/** Loads the account file with which a user's key was last verified. */
export async function loadAccountFile(cache: Store, query: KeyQuery): Promise<string | undefined> {
  const file = await cache.get(accountName(query));
  return file === "" ? undefined : file;
}

/** Stores the account file of a verified key, or forgets it if `file` is empty. */
export async function storeAccountFile(cache: Store, query: KeyQuery, file: string): Promise<void> {
  await cache.set(accountName(query), file);
}

/**
 * Checks whether a cached key can be used without a new request. Its root must be final, and the verifier's source must
 * accept its evidence. An unproven answer of a single endpoint expires, so the endpoint can correct a false one later.
 * @param current the endpoints of this call, with the names that `sourceOf` returns
 * @param recheckMs the time in ms after which the unproven answer of a single endpoint expires
 */
export async function isAccepted(
  { evidence, final, sources, storedAt }: CachedKey,
  source: BlockSource,
  current: readonly string[],
  recheckMs: number,
  now: number,
): Promise<boolean> {
  if (!final || evidence.source !== source.name || (source.storageProof && !evidence.storageProof)) return false;
  const age = now - timeOf(evidence);
  if (!(age <= (source.maxAgeMs ?? Infinity) && age >= -MAX_AHEAD_MS)) return false;
  const storedFor = now - storedAt;
  if (strengthOf(evidence) === 0 && !(storedFor >= 0 && storedFor < recheckMs)) return false;
  return source.accepts(evidence, countAgreeing(sources, current));
}

/** Counts the current endpoints that agreed on the block and on the answer: the smaller number counts. */
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

/** Verifies a cached key without sending a request. @throws the errors of `verifyKeyRecord` */
export function verifyCachedKey(query: KeyQuery, { record, index, ...entry }: CachedKey): VerifiedKey {
  const { contract, chainId } = query;
  const { root, blockNumber, evidence } = entry;
  const publicKey = verifyKeyRecord("The cached record", record, query.expectedPublicKey, query.keyType);
  return { record, index, publicKey, root, blockNumber, contract, chainId, evidence };
}

/** Returns the time of the evidence's block in ms since 1970, or 0 if there is no block. */
function timeOf({ block }: Evidence): number {
  return (block?.timestamp ?? 0) * 1000;
}

/** Returns the name of a user's entry in the cache. Each user has a separate entry for each chain, contract and code. */
function entryName({ chainId, contract, codeHash, userID }: KeyQuery): string {
  return ["keyroot", chainId, contract.toLowerCase(), codeHash ?? "any-code", userID].join(":");
}

/** Returns the name of the entry with a user's account file. The keys of an account are in the entries of its slots. */
function accountName(query: KeyQuery): string {
  return `${entryName(query)}:account`;
}
