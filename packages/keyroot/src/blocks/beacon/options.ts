import type { Store } from "../../store/store.ts";
import type { BeaconNetwork, BeaconNetworkName } from "./networks.ts";

/** The options of the light client: its endpoints and the trusted checkpoint. Import `keyroot/beacon` first. */
export interface BeaconOptions {
  /** URLs of Beacon API endpoints (https, or http with `allowHttp`) in the order of use. They need not be trusted. */
  urls: readonly string[];
  /** The root of a finalized beacon block that the app trusts: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The beacon chain. Default: the included network whose chain id is `chainId`. */
  network?: BeaconNetworkName | BeaconNetwork | undefined;
  /** The store for the light client's state, about 50 kB. Default: memory. */
  store?: Store | undefined;
  /**
   * Maximum age of the newest trusted header in ms, whenever it is used again. The default is based on the network's
   * weak subjectivity period. It is 14 days on Ethereum. The evidence contains this value if it is set.
   */
  maxCheckpointAgeMs?: number | undefined;
}

/** The options for making a block proof: endpoints, checkpoint and chain. */
export interface BlockProofOptions extends Omit<BeaconOptions, "store"> {
  chainId: number | bigint;
  allowHttp?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The checkpoint that the reader of a block proof trusts. */
export interface TrustedCheckpoint extends Pick<BeaconOptions, "checkpoint" | "network" | "maxCheckpointAgeMs"> {
  chainId: number | bigint;
  /** Returns the current time in ms since 1970. Default: `Date.now`. */
  now?: (() => number) | undefined;
}
