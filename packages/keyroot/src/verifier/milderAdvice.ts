import { type Advice, type KeyrootError, VerificationError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import { isProven } from "./equivocation.ts";
import { hasSucceeded, type VerifierConfig } from "./verifierConfig.ts";

/**
 * Maximum age in ms of a block that proves that a user has no root. Auditors publish a statement every hour, about a
 * block that is already final.
 */
const MAX_ABSENCE_AGE_MS = 10_800_000;

/**
 * Replaces an error's advice `warn` with milder advice in cases that an attacker cannot cause.
 * @param knownSince the time when the app first stored this user, in ms since 1970
 */
export function advise(error: KeyrootError, config: VerifierConfig, knownSince: number | null | undefined): void {
  const advice = milderAdvice(error, config, knownSince);
  if (advice) Object.defineProperty(error, "advice", { value: advice });
}

function milderAdvice(error: KeyrootError, config: VerifierConfig, knownSince?: number | null): Advice | undefined {
  if (!(error instanceof VerificationError)) return undefined;
  const { code, evidence } = error;
  // The user of a wallet may choose another chain at any time.
  const isWallet = config.servers.endpoints.every((endpoint) => typeof endpoint !== "string");
  if (code === "CHAIN_ID_MISMATCH" && isWallet) return "developer";
  if (/^(?:CHAIN_ID_MISMATCH|HEADER_UNSUPPORTED|NO_CONTRACT|KEY_TYPE_MISMATCH)$/.test(code))
    return hasSucceeded(config) ? undefined : "developer";
  const time = config.now();
  const age = time - (knownSince ?? NaN);
  const isNew = age >= 0 && age <= config.publicationMs;
  const isAbsent = code === "NOT_PUBLISHED" || code === "STATEMENT_TOO_OLD";
  return isAbsent && isNew && provesAbsence(evidence, time) ? "wait" : undefined;
}

/**
 * Checks whether a storage proof shows that the user has no root. The block must be recent, and must not depend on only
 * one endpoint or auditor.
 */
function provesAbsence(evidence: Evidence | undefined, time: number): boolean {
  const { block } = evidence ?? {};
  return !!evidence && !!block && isProven(evidence) && time - block.timestamp * 1000 <= MAX_ABSENCE_AGE_MS;
}
