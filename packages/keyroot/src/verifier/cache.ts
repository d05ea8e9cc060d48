import { normalizeUrl } from "../engine/parseUrl.ts";
import { VerificationError } from "../errors.ts";
import { isObject } from "../input/json.ts";
import { verifyKeyRecord, type KeyRecord, parseKeyRecord, serializeKeyRecord } from "../identity/keyRecord.ts";
import { isEarlier, MAX_AHEAD_MS } from "../ethereum/blockAge.ts";
import { isMerkleRoot } from "../merkle/hash.ts";
import type { Evidence } from "../evidence.ts";
import type { Store } from "../store/store.ts";
import { sha256Hex } from "../bytes/platform.ts";
import type { Endpoint, EvidencePolicy, KeyQuery } from "./options.ts";
import type { VerifiedKey } from "./verifyPublicKey.ts";

/** An earlier answer about a user's root, and the evidence for it. */
export interface CachedAnswer {
  root: string;
  evidence: Evidence;
  /** Whether the root was read at a finalized block. The contract sets a root once, so that answer is permanent. */
  final: boolean;
}

/** A key that was verified earlier. */
export interface CachedKey extends CachedAnswer {
  index: number;
  blockNumber: number;
  record: KeyRecord;
  /** The endpoints that agreed on the block, and those that agreed on the answer, as `sourceOf` names them. */
  sources: readonly (readonly string[])[];
  /** The time at which it was stored, in ms since 1970. */
  storedAt: number;
}

const FORMAT = "keyroot-cache-v3";

/** The names of providers, which have no URL. Valid only in this process. */
const providers = new WeakMap<object, string>();

/** Names an endpoint without revealing its URL, which may contain a secret. Equal names mean the same endpoint. */
export function sourceOf(endpoint: Endpoint): string {
  if (typeof endpoint === "string") {
    return sha256Hex(normalizeUrl(endpoint));
  }
  const name = providers.get(endpoint) ?? `${Math.random()}${Math.random()}`;
  providers.set(endpoint, name);
  return name;
}

/**
 * Loads the cached key of a user. An unreadable entry counts as missing: it leads to a new request, never to a verdict.
 */
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
    const record = parseKeyRecord(String(entry["record"]));
    const isValid =
      isMerkleRoot(root) &&
      Number.isSafeInteger(index) &&
      Number.isSafeInteger(blockNumber) &&
      Number.isSafeInteger(storedAt) &&
      isObject(evidence) &&
      typeof final === "boolean" &&
      Array.isArray(sources) &&
      sources.every(Array.isArray);
    if (!isValid || record.userID !== query.userID) return undefined;
    return { root, index, blockNumber, record, evidence, final, sources, storedAt };
  } catch {
    return undefined;
  }
}

/**
 * Stores a verified key, unless the cache has stronger evidence for the same root.
 * @param cached the cached key of this user
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
  // Auditors sign finalized blocks only.
  const final = policy.tag === "finalized" && (evidence.block !== undefined || evidence.uniqueness === "auditors");
  if (cached?.root === root && isStronger(cached, { root, evidence, final })) return;
  const record = serializeKeyRecord(key.record);
  const entry = { format: FORMAT, root, index, blockNumber, record, evidence, final, sources, storedAt };
  await cache.set(entryName(query, policy), JSON.stringify(entry));
}

/** Deletes the user's entry in the cache. */
export async function forgetKey(cache: Store, query: KeyQuery, policy: EvidencePolicy): Promise<void> {
  await cache.set(entryName(query, policy), "");
}

/**
 * Whether a cached key needs no new request: its root is final, and the call would accept its evidence from the endpoints
 * of the call. For a quorum, enough of them must be among the endpoints that agreed. One endpoint's unproven answer
 * expires, so that a later answer of the same endpoint can correct it.
 * @param current the endpoints of the call, as `sourceOf` names them
 * @param recheckMs the time after which one endpoint's unproven answer expires, in ms
 */
export async function meetsPolicy(
  { evidence, final, sources, storedAt }: CachedKey,
  { anchor, storageProof, proveKey, maxAgeMs = Infinity }: EvidencePolicy,
  current: readonly string[],
  recheckMs: number,
  now: number,
): Promise<boolean> {
  const isProven = evidence.storageProof || (proveKey !== undefined && evidence.uniqueness === "auditors");
  if (!final || (storageProof && !isProven)) return false;
  const age = now - timeOf(evidence);
  if (!(age <= maxAgeMs && age >= -MAX_AHEAD_MS)) return false;
  const storedFor = now - storedAt;
  if (strengthOf(evidence) === 0 && !(storedFor >= 0 && storedFor < recheckMs)) return false;
  // A pinned block never qualifies, because each caller has its own.
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

/**
 * Whether a new answer contradicts the cached one. The new answer is refused if stronger evidence at a finalized block
 * contradicts it: the contract sets a root once. Evidence of equal strength never refuses an answer. Otherwise
 * one false cached answer would prevent all later honest ones.
 * @throws VerificationError EQUIVOCATION, step "root"
 */
export function contradicts(
  { userID }: KeyQuery,
  cached: CachedKey,
  root: string | undefined,
  evidence: Evidence,
): boolean {
  if (root === cached.root) return false;
  // The user may have had no root at an earlier block.
  if (root === undefined && isEarlier(evidence.block, cached.evidence.block)) return false;
  if (!cached.final || strengthOf(cached.evidence) <= strengthOf(evidence)) return true;
  const expected = { root: cached.root, evidence: cached.evidence };
  const message = `The user ${userID} has the root ${cached.root} according to earlier, stronger evidence at a finalized block, and ${root ?? "none"} according to this answer. The contract sets a root once, so one of the answers is false.`;
  throw new VerificationError("root", "EQUIVOCATION", message, { expected, actual: { root, evidence } });
}

/** Verifies everything about a cached key that needs no request. @throws as `verifyKeyRecord` */
export function verifyCachedKey(query: KeyQuery, { record, index, ...entry }: CachedKey): VerifiedKey {
  const { contract, chainId } = query;
  const { root, blockNumber, evidence } = entry;
  const publicKey = verifyKeyRecord("The cached record", record, query.expectedPublicKey);
  return { record, index, publicKey, root, blockNumber, contract, chainId, evidence };
}

/** The time of the evidence's block, in ms since 1970; 0 without a block. */
function timeOf({ block }: Evidence): number {
  return (block?.timestamp ?? 0) * 1000;
}

/**
 * The strength of evidence (docs/threat-model.md): 0 is one endpoint's unproven answer, 1 a quorum's unproven answer, and 2
 * a storage proof under a block that one endpoint alone cannot choose, or the statement of several auditors about the root.
 */
function strengthOf({ anchor, storageProof, uniqueness, agreeing = 1, auditors = [] }: Evidence): number {
  // A quorum of 1, or one auditor, counts as one endpoint.
  if (anchor === "endpoint" || (anchor === "quorum" && agreeing < 2)) return 0;
  if (anchor === "auditors" && auditors.length < 2) return 0;
  if (storageProof || uniqueness === "auditors") return 2;
  return anchor === "quorum" ? 1 : 0;
}

function isStronger(a: CachedAnswer, b: CachedAnswer): boolean {
  const [strengthA, strengthB] = [strengthOf(a.evidence), strengthOf(b.evidence)];
  return strengthA === strengthB ? a.final && !b.final : strengthA > strengthB;
}

/** Each chain, contract, code and slot has a separate entry. */
function entryName({ chainId, contract, codeHash, userID }: KeyQuery, { usersSlot }: EvidencePolicy): string {
  return ["keyroot", chainId, contract.toLowerCase(), codeHash ?? "any-code", usersSlot, userID].join(":");
}
