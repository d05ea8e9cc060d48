import { isObject } from "../input/json.ts";
import { verifyKeyRecord } from "../identity/verifyKeyRecord.ts";
import { type KeyRecord, parseKeyRecord, serializeKeyRecord } from "../identity/keyRecord.ts";
import { isMerkleRoot } from "../merkle/hash.ts";
import type { Evidence } from "../evidence.ts";
import type { EvidencePolicy, KeyQuery } from "./options.ts";
import type { VerifiedKey } from "./verifyPublicKey.ts";

/**
 * Stores verified keys. It must return what was stored, or undefined. Anyone who can write to it can make a client
 * accept a false key, so keep it with the app's own data.
 */
export interface KeyCache {
  get(key: string): Promise<string | undefined> | string | undefined;
  /** May return a promise. */
  set(key: string, value: string): unknown;
}

/** A key that was verified earlier. */
export interface CachedKey {
  root: string;
  index: number;
  blockNumber: number;
  record: KeyRecord;
  evidence: Evidence;
  /** Whether the root was read at a finalized block. The contract sets a root once, so that answer is permanent. */
  final: boolean;
}

const FORMAT = "keyroot-cache-v1";

/**
 * Loads the cached key of a user. An unreadable entry counts as missing: it leads to a new request, never to a verdict.
 */
export async function loadCachedKey(
  cache: KeyCache,
  query: KeyQuery,
  policy: EvidencePolicy,
): Promise<CachedKey | undefined> {
  const text = await cache.get(entryName(query, policy));
  if (typeof text !== "string") return undefined;
  try {
    const entry: unknown = JSON.parse(text);
    if (!isObject(entry) || entry["format"] !== FORMAT) return undefined;
    const { root, index, blockNumber, evidence, final } = entry as unknown as CachedKey;
    const record = parseKeyRecord(String(entry["record"]));
    const isValid = isMerkleRoot(root) && isObject(evidence) && typeof final === "boolean";
    if (!isValid || record.userID !== query.userID) return undefined;
    return { root, index, blockNumber, record, evidence, final };
  } catch {
    return undefined;
  }
}

export async function storeKey(
  cache: KeyCache,
  query: KeyQuery,
  policy: EvidencePolicy,
  key: VerifiedKey,
): Promise<void> {
  const { root, index, blockNumber, evidence } = key;
  const final = policy.tag === "finalized" && evidence.block !== undefined;
  const record = serializeKeyRecord(key.record);
  const entry = { format: FORMAT, root, index, blockNumber, record, evidence, final };
  await cache.set(entryName(query, policy), JSON.stringify(entry));
}

/** Whether a cached key needs no new request: its root is final, and its evidence meets the policy. */
export function meetsPolicy({ evidence, final }: CachedKey, { anchor, storageProof }: EvidencePolicy): boolean {
  if (!final || (storageProof && !evidence.storageProof)) return false;
  if (typeof anchor === "string") return evidence.anchor === anchor;
  // Not a pinned block: each caller has its own.
  return "quorum" in anchor && evidence.anchor === "quorum" && (evidence.agreeing ?? 0) >= anchor.quorum;
}

/** Verifies everything about a cached key that needs no request. @throws as `verifyKeyRecord` */
export function verifyCachedKey(query: KeyQuery, { record, index, ...entry }: CachedKey): VerifiedKey {
  const { contract, chainId } = query;
  const { root, blockNumber, evidence } = entry;
  const publicKey = verifyKeyRecord("The cached record", record, query.expectedPublicKey);
  return { record, index, publicKey, root, blockNumber, contract, chainId, evidence };
}

/** Another chain, contract, code or slot is another entry. */
function entryName({ chainId, contract, codeHash, userID }: KeyQuery, { usersSlot }: EvidencePolicy): string {
  return ["keyroot", chainId, contract.toLowerCase(), codeHash ?? "any-code", usersSlot, userID].join(":");
}
