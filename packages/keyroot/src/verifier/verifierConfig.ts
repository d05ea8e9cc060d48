import type { Sha256 } from "../merkle/parseAnyFile.ts";
import { checkBoolean, checkFunction, checkInteger, optional } from "../input/options.ts";
import { type EvidencePolicy, parseEvidencePolicy } from "./evidencePolicy.ts";
import { parseRegistryReference, type RegistryReference, type VerifyOptions } from "./options.ts";
import { parseServers, type ServerConfig } from "./servers.ts";

/** The default of `publicationMs`: one day for the default hold period, and one day until the next publication. */
const PUBLICATION_MS = 172_800_000;

/** The checked options of a verifier. All calls of the verifier share these options. */
export interface VerifierConfig {
  registry: RegistryReference;
  policy: EvidencePolicy;
  servers: ServerConfig;
  sha256: Sha256 | undefined;
  /** Returns the current time in ms since 1970. */
  now: () => number;
  publicationMs: number;
  verifiedBefore: boolean;
}

/**
 * Checks the options of a verifier.
 * @param names the names of the allowed options
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parseVerifierOptions(
  options: Omit<VerifyOptions, "expectedPublicKey">,
  names: readonly string[],
): VerifierConfig {
  const registry = parseRegistryReference(options, names);
  const policy = parseEvidencePolicy(options);
  const sha256 = optional(checkFunction, "The sha256 option", options.sha256);
  const now = optional(checkFunction, "The now option", options.now) ?? Date.now;
  const { publicationMs = PUBLICATION_MS, verifiedBefore = false } = options;
  checkInteger("The publicationMs option", publicationMs, 0);
  checkBoolean("The verifiedBefore option", verifiedBefore);
  return { registry, policy, servers: parseServers(options), sha256, now, publicationMs, verifiedBefore };
}

/** The registries for which this process has verified a key. The options for these registries are correct. */
const verified = new Set<string>();

/** Records a successful verification. Later CHAIN_ID_MISMATCH and NO_CONTRACT errors then have the advice `warn`. */
export function noteSuccess({ registry }: VerifierConfig): void {
  verified.add(nameOf(registry));
}

/** Checks whether this process or an earlier process has verified a key of the verifier's registry. */
export function hasSucceeded({ registry, verifiedBefore }: VerifierConfig): boolean {
  return verifiedBefore || verified.has(nameOf(registry));
}

function nameOf({ chainId, contract }: RegistryReference): string {
  return `${chainId} ${contract.toLowerCase()}`;
}
