/** Comparisons of answers about a user's root: contradictions, and the strength of the answers' evidence. */
import { VerificationError } from "../errors.ts";
import { isEarlier } from "../ethereum/blockAge.ts";
import type { Evidence } from "../evidence.ts";
import type { KeyQuery } from "./options.ts";

/** An earlier answer about a user's root, with its evidence. */
export interface CachedAnswer {
  root: string;
  evidence: Evidence;
  /**
   * True if the root was read at a finalized block. Such a root is permanent, because the contract sets each user's
   * root only once.
   */
  final: boolean;
}

/**
 * Checks whether a new answer contradicts the cached one. The contract sets each user's root only once, so a
 * contradiction of a finalized block means that one of the two answers is false. If the cached answer comes from a
 * finalized block and has stronger evidence, an error is thrown.
 *
 * Otherwise, the new answer is accepted, even if the evidence for both is equally strong. If it were rejected, a false
 * answer in the cache would block all later honest answers.
 * @throws VerificationError EQUIVOCATION, step "root"
 */
export function contradicts(
  { userID }: KeyQuery,
  cached: CachedAnswer,
  root: string | undefined,
  evidence: Evidence,
): boolean {
  if (root === cached.root) return false;
  // The user may not have had a root at an earlier block.
  if (root === undefined && isEarlier(evidence.block, cached.evidence.block)) return false;
  if (!cached.final || strengthOf(cached.evidence) <= strengthOf(evidence)) return true;
  const expected = { root: cached.root, evidence: cached.evidence };
  const message = `The user ${userID} has the root ${root ?? "none"} in this answer, but ${cached.root} in stronger evidence at a finalized block. One answer is false.`;
  throw new VerificationError("root", "EQUIVOCATION", message, { expected, actual: { root, evidence } });
}

/**
 * Returns the strength of evidence (docs/cache.md):
 * - 0 is the unproven answer of a single endpoint.
 * - 1 is the unproven answer of several endpoints.
 * - 2 is a storage proof at a block that no single endpoint or auditor chose.
 */
export function strengthOf({ source, storageProof, details: { agreeing = 1, auditors = [] } = {} }: Evidence): number {
  // A single agreeing endpoint or a single auditor is no stronger than one endpoint.
  if (source === "one-endpoint" || (source === "endpoints" && agreeing < 2)) return 0;
  if (source === "auditors" && auditors.length < 2) return 0;
  if (storageProof) return 2;
  return source === "endpoints" ? 1 : 0;
}

/**
 * Checks whether answer `a` has stronger evidence than answer `b`. If the evidence is equally strong, an answer at a
 * finalized block is the stronger one.
 */
export function isStronger(a: CachedAnswer, b: CachedAnswer): boolean {
  const [strengthA, strengthB] = [strengthOf(a.evidence), strengthOf(b.evidence)];
  return strengthA === strengthB ? a.final && !b.final : strengthA > strengthB;
}
