import { normalizeUrl } from "../engine/parseUrl.ts";
import { isObject } from "../input/isObject.ts";
import { verifyKeyRecord } from "../identity/checkKeyRecord.ts";
import { type KeyRecord, parseSerializedRecord, serializeKeyRecord } from "../identity/serializedRecord.ts";
import { MAX_AHEAD_MS } from "../ethereum/blockAge.ts";
import { isMerkleRoot } from "../merkle/hash.ts";
import type { Evidence } from "../evidence.ts";
import type { Store } from "../store/store.ts";
import { sha256Hex } from "../bytes/sha256.ts";
import { type CachedAnswer, isStronger, strengthOf } from "./equivocation.ts";
import type { EvidencePolicy } from "./evidencePolicy.ts";
import type { Endpoint, KeyQuery } from "./options.ts";
import type { VerifiedKey } from "./verifyPublicKey.ts";

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

const FORMAT = "keyroot-cache-v3";

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
export async function loadCachedKey(
  cache: Store,
  query: KeyQuery,
  policy: EvidencePolicy,
): Promise<CachedKey | undefined> {
  const text = await cache.get(entryName(query, policy));
  if (typeof text !== "string") return undefined;
  try {
    const entry: unknown = JSON.parse(text);
    if (!isObject(entry) || entry["format"] !== FORMAT) return undefined;
    const { root, index, blockNumber, evidence, final, sources, storedAt } = entry as unknown as CachedKey;
    const record = parseSerializedRecord(String(entry["record"]));
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
  policy: EvidencePolicy,
  key: VerifiedKey,
  cached: CachedKey | undefined,
  { sources, storedAt }: Pick<CachedKey, "sources" | "storedAt">,
): Promise<void> {
  const { root, index, blockNumber, evidence } = key;
  // Auditors sign only finalized blocks.
  const final = policy.tag === "finalized" && evidence.block !== undefined;
  if (cached?.root === root && isStronger(cached, { root, evidence, final })) return;
  const record = serializeKeyRecord(key.record);
  const entry = { format: FORMAT, root, index, blockNumber, record, evidence, final, sources, storedAt };
  await cache.set(entryName(query, policy), JSON.stringify(entry));
}

export async function forgetKey(cache: Store, query: KeyQuery, policy: EvidencePolicy): Promise<void> {
  await cache.set(entryName(query, policy), "");
}

/**
 * Checks whether a cached key can be used without a new request. The key's root must be final, and this call's options
 * must accept the root's evidence. For a quorum, enough of this call's endpoints must have agreed on the root. A single
 * endpoint's unproven answer expires, so the endpoint can correct a false answer later.
 * @param current the endpoints of this call, with the names that `sourceOf` returns
 * @param recheckMs the time in ms after which the unproven answer of a single endpoint expires
 */
export async function meetsPolicy(
  { evidence, final, sources, storedAt }: CachedKey,
  { anchor, storageProof, maxAgeMs = Infinity }: EvidencePolicy,
  current: readonly string[],
  recheckMs: number,
  now: number,
): Promise<boolean> {
  if (!final || (storageProof && !evidence.storageProof)) return false;
  const age = now - timeOf(evidence);
  if (!(age <= maxAgeMs && age >= -MAX_AHEAD_MS)) return false;
  const storedFor = now - storedAt;
  if (strengthOf(evidence) === 0 && !(storedFor >= 0 && storedFor < recheckMs)) return false;
  // With a pinned block, the verifier always reads the chain, because each caller can pin a different block.
  if (typeof anchor === "object" && "pinned" in anchor) return false;
  if (typeof anchor === "object" && "added" in anchor)
    return evidence.anchor === anchor.added.name && anchor.added.accepts(evidence);
  const [name, required] = typeof anchor === "string" ? [anchor, 1] : ["quorum", anchor.quorum];
  if (evidence.anchor !== name || sources.length === 0) return false;
  for (const agreed of sources) {
    const known = new Set(agreed);
    let count = 0;
    for (const source of current) if (known.has(source)) count++;
    if (count < required) return false;
  }
  return true;
}

/** Verifies a cached key without sending a request. @throws the errors of `verifyKeyRecord` */
export function verifyCachedKey(query: KeyQuery, { record, index, ...entry }: CachedKey): VerifiedKey {
  const { contract, chainId } = query;
  const { root, blockNumber, evidence } = entry;
  const publicKey = verifyKeyRecord("The cached record", record, query.expectedPublicKey);
  return { record, index, publicKey, root, blockNumber, contract, chainId, evidence };
}

/** Returns the time of the evidence's block in ms since 1970, or 0 if there is no block. */
function timeOf({ block }: Evidence): number {
  return (block?.timestamp ?? 0) * 1000;
}

/**
 * Returns the name of a user's entry in the cache. Each user has a separate entry for each chain, contract, code and
 * slot.
 */
function entryName({ chainId, contract, codeHash, userID }: KeyQuery, { usersSlot }: EvidencePolicy): string {
  return ["keyroot", chainId, contract.toLowerCase(), codeHash ?? "any-code", usersSlot, userID].join(":");
}
