import type { Store } from "../../store/store.ts";
import type { BeaconNetwork, BeaconNetworkName } from "./networks.ts";

/** The endpoints and the trusted checkpoint of a light client. Needs the import of `keyroot/beacon`. */
export interface BeaconOptions {
  /** URLs of Beacon API endpoints (https, see `allowHttp`). They are not trusted, and are tried in turn. */
  urls: readonly string[];
  /** The root of a finalized beacon block that the app trusts: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** Default: the known network whose chain id is `chainId`. */
  network?: BeaconNetworkName | BeaconNetwork | undefined;
  /** Keeps the light client's state, about 50 kB. Default: memory. */
  store?: Store | undefined;
  /**
   * The maximum age of the newest trusted header in ms, when it is used again. The default follows the network's weak subjectivity
   * period: 14 days on Ethereum. Evidence contains a value that is set here.
   */
  maxCheckpointAgeMs?: number | undefined;
}

/** The endpoints, the checkpoint and the chain. */
export interface BlockProofOptions extends Omit<BeaconOptions, "store"> {
  chainId: number | bigint;
  allowHttp?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The checkpoint that a reader of a proof trusts. */
export interface TrustedCheckpoint {
  chainId: number | bigint;
  /** The root of a finalized beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** Default: the known network whose chain id is `chainId`. */
  network?: BeaconNetworkName | BeaconNetwork | undefined;
  /** The same option as in `BeaconOptions`. */
  maxCheckpointAgeMs?: number | undefined;
  /** Returns the current time in ms since 1970. Default `Date.now`. */
  now?: (() => number) | undefined;
}
