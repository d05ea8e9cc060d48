import { loadModule } from "../../engine/loadModule.ts";
import { LOWERCASE_HASH } from "../../ethereum/rpcValues.ts";
import { checkAllBuiltins } from "../../input/builtins.ts";
import { checkChainId, checkInteger, checkNames, checkText, invalidArgument } from "../../input/options.ts";
import { checkStore, type Store } from "../../store/store.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import { parseMaxAge } from "../blockOptions.ts";
import type { SourcePlace } from "../blockSource.ts";
import { sharedSearch } from "../sharedSearch.ts";
import { makeTrust, type Trust } from "../trust.ts";
import { type BeaconNetwork, type BeaconNetworkName, parseNetwork } from "./networks.ts";
import type { LightClientConfig } from "./source.ts";

/** The settings of `lightClient`: its endpoints and the trusted checkpoint. */
export interface LightClientOptions {
  /**
   * The URLs of Beacon API endpoints, in the order in which they are used. They must be https, or http with
   * `allowHttp`. You do not have to trust these endpoints.
   */
  urls: readonly string[];
  /** The root of a finalized beacon block that the app trusts: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The beacon chain. Default: the included network with the same `chainId`. */
  network?: BeaconNetworkName | BeaconNetwork | undefined;
  /** The store for the light client's state, about 50 kB. Default: memory. */
  store?: Store | undefined;
  /**
   * Maximum age in ms of the newest header that the app trusts. Each verification checks the age. The default depends
   * on the network's weak subjectivity period. On Ethereum, it is 14 days. If you set this option, the evidence
   * contains its value.
   */
  maxCheckpointAgeMs?: number | undefined;
  /** Maximum age of the found block in ms. Default: any age that the checkpoint's maximum age allows. */
  maxAgeMs?: number | undefined;
}

/** The options of `makeBlockProof`: endpoints, checkpoint and chain. */
export interface BlockProofOptions extends Omit<LightClientOptions, "store" | "maxAgeMs"> {
  chainId: number | bigint;
  allowHttp?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The checkpoint that the reader of a block proof trusts. */
export interface TrustedCheckpoint extends Pick<LightClientOptions, "checkpoint" | "network" | "maxCheckpointAgeMs"> {
  chainId: number | bigint;
  /** Returns the current time in ms since 1970. Default: `Date.now`. */
  now?: (() => number) | undefined;
}

const OPTIONS: readonly (keyof LightClientOptions)[] = [
  ...(["urls", "checkpoint", "network", "store", "maxCheckpointAgeMs", "maxAgeMs"] as const),
];
const MAX_URLS = 16;

/**
 * Trusts Ethereum's sync committees, starting from a trusted checkpoint. Two thirds of a committee must have signed the
 * block, and a storage proof must confirm the contract's answer at this block.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const trust = lightClient({ urls: ["https://beacon.example"], checkpoint });
 */
export function lightClient(options: LightClientOptions): Trust {
  const checked = checkOptions(options);
  const maxAgeMs = parseMaxAge("lightClient", checked.maxAgeMs);
  return makeTrust("light-client", (place) => {
    const config = parseConfig(checked, place);
    const { checkpoint, callersMaxAgeMs } = config;
    return {
      storageProof: true,
      tag: "finalized",
      maxAgeMs,
      // This module is loaded on demand, because the code for the curve BLS12-381 is large.
      findBlock: sharedSearch(async (request) =>
        (await loadModule(() => import("./source.ts"))).findLightClientBlock(config, request),
      ),
      accepts: ({ details }) => details?.checkpoint === checkpoint && details.maxCheckpointAgeMs === callersMaxAgeMs,
    };
  });
}

/** Checks the options of `lightClient`, except those that depend on the chain. Returns a copy. */
function checkOptions(options: LightClientOptions): LightClientOptions {
  checkNames("The options of lightClient", options, OPTIONS, "an object with urls and checkpoint");
  const { urls, ...rest } = options;
  if (!(Array.isArray as (value: unknown) => boolean)(urls) || urls.length === 0 || urls.length > MAX_URLS)
    throw invalidArgument("The urls option of lightClient", `a list of 1 to ${MAX_URLS} URLs`, urls);
  checkTrusted(rest);
  if (rest.store !== undefined) checkStore("The store option of lightClient", rest.store);
  return { ...rest, urls: [...urls] };
}

function checkTrusted({ checkpoint, maxCheckpointAgeMs }: Omit<TrustedCheckpoint, "chainId">): void {
  checkText("The checkpoint option", checkpoint, "a block root, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
  if (maxCheckpointAgeMs !== undefined) checkInteger("The maxCheckpointAgeMs option", maxCheckpointAgeMs, 1);
}

/** Checks the options of a light client for one chain. @throws ArgumentError ARGUMENT_INVALID */
export function parseConfig(
  options: LightClientOptions,
  { chainId, allowHttp }: Pick<SourcePlace, "chainId" | "allowHttp">,
): LightClientConfig {
  const { urls, store = new Map<string, string>(), ...trusted } = checkOptions(options);
  return {
    ...parseCheckpoint({ ...trusted, chainId }),
    urls: urls.map((url) => checkSourceUrl("urls", url, allowHttp)),
    store,
  };
}

/** Checks the options of a trusted checkpoint. @throws ArgumentError ARGUMENT_INVALID */
export function parseCheckpoint(trusted: TrustedCheckpoint): Omit<LightClientConfig, "urls" | "store"> {
  checkAllBuiltins();
  checkTrusted(trusted);
  const { checkpoint, chainId, maxCheckpointAgeMs: callersMaxAgeMs } = trusted;
  const network = parseNetwork(trusted.network, checkChainId("The chainId option", chainId));
  return { checkpoint, network, callersMaxAgeMs, maxCheckpointAgeMs: callersMaxAgeMs ?? network.maxCheckpointAgeMs };
}
