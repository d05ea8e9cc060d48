import type { BlockHeader } from "../ethereum/header.ts";
import type { Anchor, Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import type { FetchOptions } from "../transport/fetchBytes.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/** The block to find, as the options of a verification request it. */
export interface BlockRequest {
  /** The endpoints of the chain; several only for a quorum. */
  calls: readonly RpcCall[];
  /** How far the chain must have confirmed the block. */
  tag: BlockTag;
  /** The limits of requests to other hosts than the endpoints. */
  http: Omit<FetchOptions, "maxBytes">;
  /** Returns the current time in ms since 1970. */
  now: () => number;
}

/** A block by its state of confirmation, as in JSON-RPC. */
export type BlockTag = "latest" | "safe" | "finalized";

/** The block at which to read the contract, and the source of its hash. */
interface FoundBlock {
  /** 0x and 64 lowercase hex digits. */
  hash: string;
  /** The header with this hash, if the source has it. Otherwise the verifier fetches the header and checks its hash. */
  header?: BlockHeader;
  /** The number that the header must have, if the source has it without the header. */
  number?: number;
  /** The file that shows the block to others, for bundles: a statement of auditors. */
  statement?: string;
  /** The name of the source. */
  anchor: Anchor;
  /** The indexes of the endpoints on which the hash rests. Empty if it rests on none of them. */
  endpoints: readonly number[];
  /** The fields of the evidence that only this source has. */
  evidence?: Partial<Evidence>;
  /**
   * Checks whether the block is recent enough for this root: 0x and 64 hex digits, or 0x without a contract.
   * @throws VerificationError of the step "root"
   */
  checkRoot?: (query: { userID: UserID; contract: string }, root: unknown, evidence: Evidence) => Promise<void>;
}

/**
 * A source of block hashes. Each source is one module or folder beside this file. Everything after the hash is the same for all
 * sources: `verifier/readRootAtBlock.ts` reads the header and the root, and the verifier checks the file and the record.
 *
 * An implementation MUST:
 * - return a hash only after it has checked everything that its `anchor` promises;
 * - throw a VerificationError of the step "anchor" if its data is false, or a TransportError if data is missing. Each source
 *   has its own code for this. It never returns a block with weaker evidence instead;
 * - compute the hash of `header` from its fields (`ethereum/header.ts`);
 * - send requests only through `calls`, or within the limits and the signal of `http`;
 * - keep nothing between two calls, except in a store that the caller passes.
 *
 * An implementation MUST NOT read the contract. It may load its code on demand.
 */
export type BlockSource = (request: BlockRequest) => Promise<FoundBlock>;
