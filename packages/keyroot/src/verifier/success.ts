import type { VerifierConfig } from "./verifierConfig.ts";

/** The registries for which this process has verified a key. The options that name them are correct. */
const verified = new Set<string>();

/** Notes that a key was verified. From then on, no error for this registry counts as a wrong configuration. */
export function noteSuccess(config: VerifierConfig): void {
  verified.add(nameOf(config));
}

/** Whether a key of this registry was verified in this process, or before it. */
export function hasSucceeded(config: VerifierConfig): boolean {
  return config.verifiedBefore || verified.has(nameOf(config));
}

function nameOf({ registry: { chainId, contract } }: VerifierConfig): string {
  return `${chainId} ${contract.toLowerCase()}`;
}
