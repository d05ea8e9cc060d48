import { ArgumentError } from "../api/base/errors.ts";
import type { ResolvedConfig } from "../config/config.ts";
import { readConfig } from "../config/readConfig.ts";

/** The configuration of a service that publishes. */
type PublishingConfig = ResolvedConfig & { chain: NonNullable<ResolvedConfig["chain"]> };

/**
 * Reads the configuration of a service that publishes from the environment.
 * @throws ArgumentError CONFIGURATION_INVALID
 */
export function readPublishingConfig(): PublishingConfig {
  const config = readConfig(process.env);
  if (config.chain !== undefined) return { ...config, chain: config.chain };
  const message =
    "This command needs the variables of the service that publishes. Set KEYROOT_RPC_URL, KEYROOT_CONTRACT, KEYROOT_CHAIN_ID and KEYROOT_FILES.";
  throw new ArgumentError("CONFIGURATION_INVALID", message);
}
