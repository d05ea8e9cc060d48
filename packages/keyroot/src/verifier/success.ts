import type { VerifierConfig } from "./verifierConfig.ts";

/** The registries for which this process has verified a key. The options for these registries are correct. */
const verified = new Set<string>();

/** Records that a key was verified. Later errors for the same registry are not attributed to wrong options. */
export function noteSuccess(config: VerifierConfig): void {
  verified.add(nameOf(config));
}

/** Checks whether a key of the verifier's registry was verified earlier, in this process or before it. */
export function hasSucceeded(config: VerifierConfig): boolean {
  return config.verifiedBefore || verified.has(nameOf(config));
}

function nameOf({ registry: { chainId, contract } }: VerifierConfig): string {
  return `${chainId} ${contract.toLowerCase()}`;
}
