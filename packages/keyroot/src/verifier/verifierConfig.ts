import { openAccounts, type VerifyAccountFile } from "../account/choice.ts";
import { checkInteger, invalidArgument } from "../input/options.ts";
import { checkStore, type Store } from "../store/store.ts";
import type { BlockSource } from "../trust/blockSource.ts";
import { openTrust } from "../trust/trust.ts";
import { parseRegistryReference, type RegistryReference, type VerifierOptions } from "./options.ts";
import { parseServers, type ServerConfig } from "./servers.ts";

/** The default of `publicationMs`: one day for the default hold period, and one day until the next publication. */
const PUBLICATION_MS = 172_800_000;

/** The checked options of a verifier, which all its calls share. */
export interface VerifierConfig {
  registry: RegistryReference;
  source: BlockSource;
  servers: ServerConfig;
  /** Returns the current time in ms since 1970. */
  now: () => number;
  publicationMs: number;
  /** Verifies the users' account files. Undefined if each user has one key for life. */
  verifyAccountFile: VerifyAccountFile | undefined;
  cache: { store: Store; maxOfflineMs: number | undefined } | undefined;
}

const OPTIONS: readonly (keyof VerifierOptions)[] = [
  ...(["rpc", "chainId", "contract", "merkleUrl", "trust"] as const),
  ...(["codeHash", "keyType", "publicationMs", "accounts", "cache", "maxOfflineMs"] as const),
  ...(["limits", "allowHttp", "fetch"] as const),
];

/** Checks the options of a verifier. @throws ArgumentError ARGUMENT_INVALID, BUILTIN_REPLACED */
export function parseVerifierOptions(options: VerifierOptions): VerifierConfig {
  const registry = parseRegistryReference(options, OPTIONS);
  const source = openTrust(options.trust, options);
  const { publicationMs = PUBLICATION_MS, accounts } = options;
  checkInteger("The publicationMs option", publicationMs, 0);
  const verifyAccountFile = accounts === undefined ? undefined : openAccounts(accounts);
  const cache = parseCache(options);
  const servers = parseServers(options, source);
  return { registry, source, servers, now: Date.now, publicationMs, verifyAccountFile, cache };
}

function parseCache({ cache, maxOfflineMs }: VerifierOptions): VerifierConfig["cache"] {
  if (maxOfflineMs !== undefined) checkInteger("The maxOfflineMs option", maxOfflineMs, 0);
  if (cache !== undefined) return { store: checkStore("The cache option", cache), maxOfflineMs };
  if (maxOfflineMs === undefined) return undefined;
  throw invalidArgument("The maxOfflineMs option", "undefined without the verifier's cache option", maxOfflineMs);
}

/** The registries for which this process has verified a key, so their options are known to be correct. */
const verified = new Set<string>();

/** Records a successful verification. Later CHAIN_ID_MISMATCH and NO_CONTRACT errors then have the advice `warn`. */
export function noteSuccess({ registry }: VerifierConfig): void {
  verified.add(nameOf(registry));
}

/** Checks whether this process has verified a key of the verifier's registry. */
export function hasSucceeded({ registry }: VerifierConfig): boolean {
  return verified.has(nameOf(registry));
}

function nameOf({ chainId, contract }: RegistryReference): string {
  return `${chainId} ${contract.toLowerCase()}`;
}
