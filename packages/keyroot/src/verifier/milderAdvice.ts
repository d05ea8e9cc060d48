import { type Advice, type KeyrootError, VerificationError } from "../errors.ts";
import { hasSucceeded, type VerifierConfig } from "./verifierConfig.ts";

/**
 * Maximum age in ms of a block that shows that a user has no root: 3 hours. Auditors publish a statement only every
 * hour, about a block that is already final, so their newest statement may be about a block that is more than an hour
 * old.
 */
const MAX_ABSENCE_AGE_MS = 10_800_000;

/**
 * Replaces an error's advice `warn` with milder advice in two cases: the user's key is probably not published yet, or
 * the configuration is probably wrong.
 * @param knownSince the time when the app first stored this user, in ms since 1970. Default: the user is new
 * @param isKnown true if the verifier has verified a key of the user before
 */
export function advise(
  error: KeyrootError,
  config: VerifierConfig,
  knownSince: number | null | undefined,
  isKnown?: boolean,
): void {
  const advice = milderAdvice(error, config, knownSince, isKnown);
  if (advice) Object.defineProperty(error, "advice", { value: advice });
}

function milderAdvice(
  error: KeyrootError,
  config: VerifierConfig,
  knownSince: number | null = null,
  isKnown = false,
): Advice | undefined {
  if (!(error instanceof VerificationError)) return undefined;
  const { code, evidence } = error;
  // The user of a wallet may choose another chain at any time.
  const isWallet = config.servers.endpoints.every((endpoint) => typeof endpoint !== "string");
  if (code === "CHAIN_ID_MISMATCH" && isWallet) return "developer";
  if (/^(?:CHAIN_ID_MISMATCH|HEADER_UNSUPPORTED|NO_CONTRACT|KEY_TYPE_MISMATCH)$/.test(code))
    return hasSucceeded(config) ? undefined : "developer";
  const time = config.now();
  const age = time - (knownSince ?? time);
  const isNew = !isKnown && age >= 0 && age <= config.publicationMs;
  const isAbsent = code === "NOT_PUBLISHED" || code === "STATEMENT_TOO_OLD";
  // The source of the evidence needs no further check, because the evidence already meets the verifier's trust. If
  // attackers could forge such evidence to hide a key, they could also forge it to show a false key.
  const blockTime = (evidence?.block?.timestamp ?? Infinity) * 1000;
  return isAbsent && isNew && evidence && time - blockTime <= MAX_ABSENCE_AGE_MS ? "wait" : undefined;
}
