import type { Store } from "../../store/store.ts";
import type { BeaconNetwork, BeaconNetworkName } from "./networks.ts";

/** The settings of `lightClient`: its endpoints and the trusted checkpoint. */
export interface LightClientOptions {
  /**
   * The URLs of Beacon API endpoints in the order of use. They must be https, or http with `allowHttp`. You do not have
   * to trust these endpoints.
   */
  urls: readonly string[];
  /** The root of a finalized beacon block that the app trusts: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The beacon chain. Default: the included network with the same `chainId`. */
  network?: BeaconNetworkName | BeaconNetwork | undefined;
  /** The store for the light client's state, about 50 kB. Default: memory. */
  store?: Store | undefined;
  /**
   * Maximum age in ms of the newest trusted header, which each verification checks. If you set this option, the
   * evidence contains its value. The default depends on the network's weak subjectivity period, and is 14 days on
   * Ethereum.
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
