import type { BlockHeader } from "../ethereum/header.ts";
import type { Anchor, Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import type { FetchOptions } from "../transport/fetchBytes.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/** A request for a block that is suitable for a verification. */
export interface BlockRequest {
  /** The functions that call the chain's endpoints. Only a quorum has more than one function. */
  calls: readonly RpcCall[];
  /** The required confirmation state. */
  tag: BlockTag;
  /** The options for requests to hosts other than the chain's endpoints, such as the timeout. */
  http: Omit<FetchOptions, "maxBytes">;
  /** Returns the current time in ms since 1970. */
  now: () => number;
}

/** A block's confirmation state, with the name that JSON-RPC uses. */
export type BlockTag = "latest" | "safe" | "finalized";

/** The block at which to read the contract, with the evidence for the block's hash. */
interface FoundBlock {
  /** The block hash: 0x and 64 lowercase hex digits. */
  hash: string;
  /** The header with this hash. If the header is undefined, the verifier fetches and checks the header. */
  header?: BlockHeader;
  /** The expected block number, if the source provides no header. */
  number?: number;
  /** The auditors' statement as a file. A bundle includes this file, so the bundle's readers can verify the block. */
  statement?: string;
  anchor: Anchor;
  /** The indexes of the endpoints that reported this hash. Empty if the hash comes from another source. */
  endpoints: readonly number[];
  /** Evidence fields that only this block source adds. */
  evidence?: Partial<Evidence>;
  checkRoot?: CheckRoot;
}

/**
 * Checks whether the block is recent enough for the user's root, and adds what the source states about the root to the
 * evidence. The root consists of 0x and 64 hex digits, or only 0x if there is no contract.
 * @throws VerificationError of the step "root"
 */
export type CheckRoot = (
  query: { userID: UserID; contract: string },
  root: unknown,
  evidence: Evidence,
) => Promise<void>;

/**
 * A source of block hashes. Each source is a module or folder next to this file. The steps after a source are the same
 * for all sources. `verifier/readRootAtBlock.ts` reads the header and the root, and the verifier checks the file and
 * the record.
 *
 * An implementation MUST:
 * - return a hash only after all checks that its `anchor` requires;
 * - throw a VerificationError of the step "anchor" if its data is false, or a TransportError if data is missing. Each
 *   source has its own error codes. A source must not return a block with weaker evidence;
 * - compute the hash of `header` from its fields (`ethereum/header.ts`);
 * - send requests only through `calls`, or within the limits and the signal of `http`;
 * - keep no data between two calls, except in a store that the caller passes.
 *
 * An implementation MUST NOT read the contract. An implementation may load its own code on demand.
 */
export type BlockSource = (request: BlockRequest) => Promise<FoundBlock>;
