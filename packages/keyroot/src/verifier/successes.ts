import type { VerifierConfig } from "./verifierConfig.ts";

/** The registries of which this process has verified a key: the options that name them are right. */
const verified = new Set<string>();

/** Notes that a key was verified: from then on, no error of this registry is a wrong configuration. */
export function noteSuccess(config: VerifierConfig): void {
  verified.add(nameOf(config));
}

/** Whether this process has verified a key of the same registry. */
export function hadSuccess(config: VerifierConfig): boolean {
  return verified.has(nameOf(config));
}

function nameOf({ registry: { chainId, contract } }: VerifierConfig): string {
  return `${chainId} ${contract.toLowerCase()}`;
}
