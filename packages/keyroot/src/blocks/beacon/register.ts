import { LOWERCASE_HASH } from "../../ethereum/rpcValues.ts";
import { checkInteger, checkNames, checkObject, checkText, invalidArgument } from "../../input/options.ts";
import { checkStore } from "../../store/store.ts";
import { checkSourceUrl } from "../../transport/url.ts";
import type { MakeSource } from "../addedSources.ts";
import { parseNetwork } from "./networks.ts";
import type { BeaconOptions } from "./options.ts";
import type { BeaconConfig } from "./source.ts";

const OPTIONS: readonly (keyof BeaconOptions)[] = ["urls", "checkpoint", "network", "store", "maxCheckpointAgeMs"];

/** The maximum number of endpoints. */
const MAX_URLS = 16;

/** Makes the source of the option `beacon`: a block that two thirds of the sync committee signed. */
export const makeBeaconSource: MakeSource = (option, place) => {
  const config = parseBeaconOptions(option, place);
  const { checkpoint, callersMaxAgeMs } = config;
  return {
    name: "beacon",
    // Loaded only when needed: it brings the curve BLS12-381.
    find: async (request) => (await import("./source.ts")).findBeaconBlock(config, request),
    accepts: ({ beacon }) => beacon?.checkpoint === checkpoint && beacon.maxCheckpointAgeMs === callersMaxAgeMs,
  };
};

/** Checks the option `beacon`. @throws ArgumentError ARGUMENT_INVALID */
export function parseBeaconOptions(
  option: unknown,
  { chainId, allowHttp }: { chainId: number; allowHttp?: boolean | undefined },
): BeaconConfig {
  const what = "The option beacon";
  const options = checkObject(what, option as BeaconOptions, "an object with urls and checkpoint");
  checkNames(what, options, OPTIONS);
  const { urls, checkpoint, maxCheckpointAgeMs: callersMaxAgeMs, store = new Map<string, string>() } = options;
  if (!(Array.isArray as (value: unknown) => boolean)(urls) || urls.length === 0 || urls.length > MAX_URLS)
    throw invalidArgument(`${what}.urls`, `a list of 1 to ${MAX_URLS} URLs`, urls);
  checkText(`${what}.checkpoint`, checkpoint, "a block root, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
  const network = parseNetwork(options.network, chainId);
  if (callersMaxAgeMs !== undefined) checkInteger(`${what}.maxCheckpointAgeMs`, callersMaxAgeMs, 1);
  return {
    urls: urls.map((url) => checkSourceUrl("beacon.urls", url, allowHttp)),
    ...{ checkpoint, network, callersMaxAgeMs, store: checkStore(`${what}.store`, store) },
    maxCheckpointAgeMs: callersMaxAgeMs ?? network.maxCheckpointAgeMs,
  };
}
