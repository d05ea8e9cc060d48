import type { BesideFileOptions, CostLimits } from "@keyroot/operator/publisher";
import type { Region } from "keyroot/identity";

/** The chain and stores for publishing. */
export interface ChainConfig extends BesideFileOptions {
  /** The JSON-RPC endpoint of the chain. */
  rpcUrl: string;
  /** A second endpoint, of another operator. Keys count as published only if both agree. Default none. */
  secondRpcUrl?: string | undefined;
  /** Allows plain http to an endpoint on another machine. */
  allowHttp?: boolean | undefined;
  /** The registry's address: 0x and 40 hex digits. */
  contract: string;
  /** The chain's id (EIP-155), for which transactions are signed. The endpoint must report the same id. */
  chainId: number;
  /** Cost limits for a plan in each region, and for a day; "local" on development chains. */
  limits: CostLimits | "local";
  /** Number of blocks after which a root counts as published, including its own. */
  confirmations: number;
  /** Store of each region's Merkle-tree files: a folder, or `s3://<bucket>/<prefix>`. */
  files: Record<Region, string>;
}
