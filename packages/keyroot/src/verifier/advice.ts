import { type Advice, type KeyrootError, VerificationError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import { hasSucceeded } from "./success.ts";
import type { VerifierConfig } from "./verifierConfig.ts";

/** The maximum age in ms of the block that proves the absence of a root. */
const MAX_ABSENCE_AGE_MS = 3_600_000;

/**
 * Replaces the advice `warn` of a verification's error by a milder one, where an attacker cannot choose it.
 * @param knownSince the time at which the app first had this user, in ms since 1970
 */
export function advise(error: KeyrootError, config: VerifierConfig, knownSince: number | undefined): void {
  const advice = milderAdvice(error, config, knownSince);
  if (advice) Object.defineProperty(error, "advice", { value: advice });
}

function milderAdvice(error: KeyrootError, config: VerifierConfig, knownSince = NaN): Advice | undefined {
  if (!(error instanceof VerificationError)) return undefined;
  const { code, evidence } = error;
  if (code === "CHAIN_ID_MISMATCH" || code === "NO_CONTRACT") return hasSucceeded(config) ? undefined : "developer";
  const time = config.now();
  const age = time - knownSince;
  const isNew = age >= 0 && age <= config.publicationMs;
  const isAbsent = code === "NOT_PUBLISHED" || code === "STATEMENT_TOO_OLD";
  return isAbsent && isNew && provesAbsence(evidence, time) ? "wait" : undefined;
}

/** Whether a storage proof shows that there is no root, at a recent block that does not rest on one endpoint's answer. */
function provesAbsence({ storageProof = false, anchor, block }: Partial<Evidence> = {}, time: number): boolean {
  return storageProof && anchor !== "endpoint" && !!block && time - block.timestamp * 1000 <= MAX_ABSENCE_AGE_MS;
}
