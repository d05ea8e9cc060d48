import type { CostLimits } from "@keyroot/operator/publisher";
import type { Region } from "keyroot/internal/identity";

/** The chain and stores for publishing. */
export interface ChainConfig {
  /** The JSON-RPC endpoint of the chain. */
  rpcUrl: string;
  /** A second endpoint, from another operator. A key is published only when both endpoints agree. Default: none. */
  secondRpcUrl?: string | undefined;
  /** Whether an endpoint on another machine may use plain http. */
  allowHttp?: boolean | undefined;
  /** The registry's address: 0x and 40 hex digits. */
  contract: string;
  /** The chain's id (EIP-155), for which transactions are signed. The endpoint must report the same id. */
  chainId: number;
  /** Cost limits per plan and region, and per day. "local" means a development chain, which needs no limits. */
  limits: CostLimits | "local";
  /** Number of blocks, including the root's own block, after which a root is treated as published. */
  confirmations: number;
  /** The store of each region's Merkle-tree files: a folder, or `s3://<bucket>/<prefix>`. */
  files: Record<Region, string>;
}
