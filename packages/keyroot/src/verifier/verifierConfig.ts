import { checkFunction, optional } from "../input/options.ts";
import {
  checkOptionNames,
  type EvidencePolicy,
  parseEvidencePolicy,
  parseRegistryReference,
  type RegistryReference,
  type VerifyOptions,
} from "./options.ts";
import { parseSources, type SourceConfig } from "./sources.ts";

/** The options of a verifier, checked: everything that its calls have in common. */
export interface VerifierConfig {
  registry: RegistryReference;
  policy: EvidencePolicy;
  sources: SourceConfig;
  /** Returns the current time in ms since 1970. */
  now: () => number;
}

/**
 * @param names the names that the options may have
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parseVerifierOptions(
  options: Omit<VerifyOptions, "expectedPublicKey">,
  names: readonly string[],
): VerifierConfig {
  checkOptionNames(options, names);
  const registry = parseRegistryReference(options);
  const policy = parseEvidencePolicy(options);
  const now = optional(checkFunction, "The option now", options.now) ?? Date.now;
  return { registry, policy, sources: parseSources(options), now };
}
