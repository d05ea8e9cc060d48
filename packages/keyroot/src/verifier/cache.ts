import { isObject } from "../input/json.ts";
import { verifyKeyRecord } from "../identity/verifyKeyRecord.ts";
import { type KeyRecord, parseKeyRecord, serializeKeyRecord } from "../identity/keyRecord.ts";
import type { EvidencePolicy } from "./readRoot.ts";
import type { Evidence } from "../evidence.ts";
import type { KeyQuery } from "./verdict.ts";
import type { VerifiedKey } from "./verifyPublicKey.ts";

/**
 * Where verified keys are remembered. It must return what was stored, or nothing; whoever can write into it can make a
 * client believe in a key, so it belongs where the app keeps its own data.
 */
export interface KeyCache {
  get(key: string): Promise<string | undefined> | string | undefined;
  set(key: string, value: string): Promise<void> | void;
}

/** A key that was verified before. */
export interface SeenKey {
  root: string;
  index: number;
  blockNumber: number;
  record: KeyRecord;
  evidence: Evidence;
  /** Whether the contract was asked at a finalized block: as a root is set once, its answer stands for ever. */
  final: boolean;
}

const FORMAT = "keyroot-cache-v1";

/**
 * The key that was seen for a user, if there is one. What cannot be read counts as never seen: it leads to asking again,
 * and never to a verdict.
 */
export async function recall(
  cache: KeyCache,
  question: KeyQuery,
  demand: EvidencePolicy,
): Promise<SeenKey | undefined> {
  const text = await cache.get(cacheKey(question, demand));
  if (typeof text !== "string") return undefined;
  try {
    const seen: unknown = JSON.parse(text);
    if (!isObject(seen) || seen["format"] !== FORMAT) return undefined;
    const { root, index, blockNumber, evidence, final } = seen as unknown as SeenKey;
    const record = parseKeyRecord(String(seen["record"]));
    const wellFormed = /^[0-9a-f]{64}$/.test(root) && isObject(evidence) && typeof final === "boolean";
    if (!wellFormed || record.userID !== question.userID) return undefined;
    return { root, index, blockNumber, record, evidence, final };
  } catch {
    return undefined;
  }
}

export async function remember(
  cache: KeyCache,
  question: KeyQuery,
  key: VerifiedKey,
  demand: EvidencePolicy,
): Promise<void> {
  const { root, index, blockNumber, evidence } = key;
  const final = demand.tag === "finalized" && evidence.block !== undefined;
  const record = serializeKeyRecord(key.record);
  await cache.set(
    cacheKey(question, demand),
    JSON.stringify({ format: FORMAT, root, index, blockNumber, record, evidence, final }),
  );
}

/** Whether a seen key answers for good: its root is final, and rests on no less than what is asked for now. */
export function suffices({ evidence, final }: SeenKey, { anchor, storageProof }: EvidencePolicy): boolean {
  if (!final || (storageProof && !evidence.storageProof)) return false;
  if (typeof anchor === "string") return evidence.anchor === anchor;
  // A pinned block is asked about each time: it is the caller's own.
  return "quorum" in anchor && evidence.anchor === "quorum" && (evidence.agreeing ?? 0) >= anchor.quorum;
}

/** A key out of the cache, held against everything that can be checked without asking again. @throws as `verifyKeyRecord` */
export function verifyCached(question: KeyQuery, { record, index, ...seen }: SeenKey): VerifiedKey {
  const { contract, chainId } = question;
  const { root, blockNumber, evidence } = seen;
  const publicKey = verifyKeyRecord("The remembered record", record, question.expectedPublicKey);
  return { record, index, publicKey, root, blockNumber, contract, chainId, evidence };
}

/** What a key was verified for: another contract, other code, or another slot is another question. */
function cacheKey({ chainId, contract, codeHash, userID }: KeyQuery, { usersSlot }: EvidencePolicy): string {
  return ["keyroot", chainId, contract.toLowerCase(), codeHash ?? "any-code", usersSlot, userID].join(":");
}
