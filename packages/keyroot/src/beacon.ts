/**
 * `keyroot/beacon`: adds Ethereum's light client to the sources of a block. Import it for its effect, and set the option `beacon`. The
 * code of the light client is loaded with the first verification.
 */
import { addSource } from "./blocks/addedSources.ts";
import { makeBeaconSource } from "./blocks/beacon/register.ts";

export type { BeaconOptions } from "./blocks/beacon/options.ts";
export { BEACON_NETWORKS, type BeaconNetwork, type BeaconNetworkName } from "./blocks/beacon/networks.ts";

addSource("beacon", makeBeaconSource);
