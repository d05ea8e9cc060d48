import type { Region } from "keyroot/internal/identity";

/** A batch that a publisher published. */
export interface PublishedBatch {
  /** The batch's Merkle root: 64 lowercase hex digits. */
  root: string;
  /** Number of users with this root. */
  users: number;
  /** Hash of the transaction: 0x and 64 hex digits. */
  transaction: string;
  block: number;
}

/** The state of the chain and the stores, as the publisher found them. If a part works, its `error` is null. */
export interface PublisherReport {
  chain: {
    chain_id: number;
    contract: string;
    error: string | null;
    /**
     * The newest block, the registry's owner and its balance in wei, and the gas price in wei. Null if the chain could
     * not be read.
     */
    state: { block: number; owner: string; balance: string; fee: string } | null;
  };
  stores: { region: Region; location: string; error: string | null }[];
  /** Seconds between two scheduled publications. Null if the publisher has no schedule. */
  every: number | null;
}
