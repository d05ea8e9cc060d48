import { loadModule } from "../../engine/loadModule.ts";
import { LOWERCASE_HASH } from "../../ethereum/rpcValues.ts";
import { checkAllBuiltins } from "../../input/builtins.ts";
import {
  checkChainId,
  checkInteger,
  checkNames,
  checkObject,
  checkText,
  invalidArgument,
} from "../../input/options.ts";
import { checkStore } from "../../store/store.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import { parseMaxAge } from "../blockOptions.ts";
import type { SourcePlace } from "../blockSource.ts";
import { sharedSearch } from "../sharedSearch.ts";
import { makeTrust, type Trust } from "../trust.ts";
import { parseNetwork } from "./networks.ts";
import type { LightClientOptions } from "./options.ts";
import type { LightClientConfig } from "./source.ts";

const OPTIONS: readonly (keyof LightClientOptions)[] = [
  ...(["urls", "checkpoint", "network", "store", "maxCheckpointAgeMs", "maxAgeMs"] as const),
];
const MAX_URLS = 16;

/**
 * Trusts Ethereum's sync committees, starting from a trusted checkpoint. Two thirds of a committee must have signed the
 * block. The contract's answer must be proven with a storage proof under it.
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
      name: "light-client",
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
  const { urls, ...rest } = checkObject("The options of lightClient", options, "an object with urls and checkpoint");
  checkNames("The options of lightClient", options, OPTIONS);
  if (!(Array.isArray as (value: unknown) => boolean)(urls) || urls.length === 0 || urls.length > MAX_URLS)
    throw invalidArgument("The urls option of lightClient", `a list of 1 to ${MAX_URLS} URLs`, urls);
  checkCheckpoint(rest.checkpoint);
  checkMaxCheckpointAge(rest.maxCheckpointAgeMs);
  if (rest.store !== undefined) checkStore("The store option of lightClient", rest.store);
  return { ...rest, urls: [...urls] };
}

/** Checks the options of a light client for one chain. @throws ArgumentError ARGUMENT_INVALID */
export function parseConfig(
  options: LightClientOptions,
  { chainId, allowHttp }: Pick<SourcePlace, "chainId" | "allowHttp">,
): LightClientConfig {
  const { urls, store = new Map<string, string>(), ...trusted } = checkOptions(options);
  return {
    ...parseCheckpoint(trusted, chainId),
    urls: urls.map((url) => checkSourceUrl("urls", url, allowHttp)),
    store,
  };
}

/** Checks the `checkpoint`, `network` and `maxCheckpointAgeMs` options. @throws ArgumentError ARGUMENT_INVALID */
export function parseCheckpoint(
  options: Pick<LightClientOptions, "checkpoint" | "network" | "maxCheckpointAgeMs">,
  chainId: number | bigint,
): Omit<LightClientConfig, "urls" | "store"> {
  checkAllBuiltins();
  const { maxCheckpointAgeMs: callersMaxAgeMs } = options;
  const checkpoint = checkCheckpoint(options.checkpoint);
  const network = parseNetwork(options.network, checkChainId("The chainId option", chainId));
  checkMaxCheckpointAge(callersMaxAgeMs);
  const maxCheckpointAgeMs = callersMaxAgeMs ?? network.maxCheckpointAgeMs;
  return { checkpoint, network, callersMaxAgeMs, maxCheckpointAgeMs };
}

function checkCheckpoint(checkpoint: string): string {
  return checkText("The checkpoint option", checkpoint, "a block root, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
}

function checkMaxCheckpointAge(ms: number | undefined): void {
  if (ms !== undefined) checkInteger("The maxCheckpointAgeMs option", ms, 1);
}
