import { LOWERCASE_HASH } from "../../ethereum/rpcValues.ts";
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
import type { MakeSource } from "../addedSources.ts";
import { parseNetwork } from "./networks.ts";
import type { BeaconOptions } from "./options.ts";
import type { BeaconConfig } from "./source.ts";

const OPTIONS: readonly (keyof BeaconOptions)[] = ["urls", "checkpoint", "network", "store", "maxCheckpointAgeMs"];

const MAX_URLS = 16;

/**
 * Makes the block source for the `beacon` option. The source finds a block that two thirds of the sync committee
 * signed.
 */
export const makeBeaconSource: MakeSource = (option, place) => {
  const config = parseBeaconOptions(option, place);
  const { checkpoint, callersMaxAgeMs } = config;
  return {
    name: "beacon",
    // This module is loaded on demand, because the code for the curve BLS12-381 is large.
    find: async (request) => (await import("./source.ts")).findBeaconBlock(config, request),
    accepts: ({ beacon }) => beacon?.checkpoint === checkpoint && beacon.maxCheckpointAgeMs === callersMaxAgeMs,
  };
};

/** Checks the `beacon` option. @throws ArgumentError ARGUMENT_INVALID */
export function parseBeaconOptions(
  option: unknown,
  { chainId, allowHttp }: { chainId: number | bigint; allowHttp?: boolean | undefined },
): BeaconConfig {
  const options = checkObject("The beacon option", option as BeaconOptions, "an object with urls and checkpoint");
  checkNames("The options in beacon", options, OPTIONS);
  const { urls, store = new Map<string, string>() } = options;
  if (!(Array.isArray as (value: unknown) => boolean)(urls) || urls.length === 0 || urls.length > MAX_URLS)
    throw invalidArgument("The beacon.urls option", `a list of 1 to ${MAX_URLS} URLs`, urls);
  return {
    ...parseCheckpoint("beacon.", options, chainId),
    urls: urls.map((url) => checkSourceUrl("beacon.urls", url, allowHttp)),
    store: checkStore("The beacon.store option", store),
  };
}

/**
 * Checks the `checkpoint`, `network` and `maxCheckpointAgeMs` options.
 * @param path the start of the option names in error messages
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function parseCheckpoint(
  path: "" | "beacon.",
  options: Pick<BeaconOptions, "checkpoint" | "network" | "maxCheckpointAgeMs">,
  chainId: number | bigint,
): Omit<BeaconConfig, "urls" | "store"> {
  const { checkpoint, maxCheckpointAgeMs: callersMaxAgeMs } = options;
  checkText(`The ${path}checkpoint option`, checkpoint, "a block root, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
  const network = parseNetwork(options.network, checkChainId("The chainId option", chainId));
  if (callersMaxAgeMs !== undefined) checkInteger(`The ${path}maxCheckpointAgeMs option`, callersMaxAgeMs, 1);
  const maxCheckpointAgeMs = callersMaxAgeMs ?? network.maxCheckpointAgeMs;
  return { checkpoint, network, callersMaxAgeMs, maxCheckpointAgeMs };
}
