import type { BlockHeader } from "../ethereum/header.ts";
import type { Evidence, EvidenceDetails } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import type { FetchOptions } from "../transport/fetchBytes.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { Quorum } from "./quorum.ts";

/** A request for a block that is suitable for a verification. */
export interface BlockRequest {
  /** The functions that call the chain's endpoints. Only a source with `required` has more than one. */
  calls: readonly RpcCall[];
  /** The votes of the endpoints, for a source with `required`. */
  quorum?: Quorum | undefined;
  tag: BlockTag;
  /** The options for requests to hosts other than the chain's endpoints, such as the timeout. */
  http: Omit<FetchOptions, "maxBytes">;
  /** Returns the current time in ms since 1970. */
  now: () => number;
}

/** A block's confirmation state, with the name that JSON-RPC uses. */
export type BlockTag = "latest" | "safe" | "finalized";

/** The block at which to read the contract, with the evidence for its hash. */
export interface FoundBlock {
  /** The block hash: 0x and 64 lowercase hex digits. */
  hash: string;
  /** The header with this hash. If it is undefined, the verifier fetches and checks it. */
  header?: BlockHeader;
  /** The expected block number, if the source provides no header. */
  number?: number;
  /** The auditors' statement as a file. A bundle includes it, so that its readers can verify the block. */
  statement?: string;
  /** The indexes of the endpoints that reported this hash. Empty if the hash comes from another source. */
  endpoints: readonly number[];
  /** The facts behind the hash that only this source knows. */
  details?: EvidenceDetails;
  checkRoot?: CheckRoot;
}

/**
 * Checks that the block is recent enough for the user's root. If the source has information about this root, such as
 * damage, the function adds it to the evidence. The root is 0x and 64 hex digits, or only 0x if there is no contract.
 * @throws VerificationError in the step "root"
 */
export type CheckRoot = (
  query: { userID: UserID; contract: string },
  root: unknown,
  evidence: Evidence,
) => Promise<void>;

/** The registry that a verifier reads. */
export interface SourcePlace {
  chainId: number | bigint;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
  /** True to allow unencrypted http requests to other machines. */
  allowHttp?: boolean | undefined;
  /** True if only `findInBundle` will be called. */
  offline?: boolean;
}

/** The part of a bundle from which a source may take the block's hash. */
interface BundledBlock {
  statement?: string | undefined;
}

/**
 * A source of trusted block hashes. Each source is one module or folder next to this file, with a constructor that apps
 * call (`makeTrust`). The later steps are the same for all sources. `verifier/readRootAtBlock.ts` reads the header and
 * the root, and the verifier checks the file and the record.
 *
 * `findBlock` MUST:
 * - return a hash only after all checks that the source promises, and never a block with weaker evidence;
 * - throw a VerificationError in the step "anchor" if its data is false, and a TransportError if data is missing;
 * - compute the hash of `header` from its fields (`ethereum/header.ts`);
 * - send requests only through `calls` or `quorum`, or within the limits and the signal of `http`;
 * - keep no data between two calls, except in a store that the caller passes.
 *
 * `findBlock` MUST NOT read the contract. It should load its code on demand, because every app loads the constructors
 * of all sources.
 */
export interface BlockSource {
  /** The name of the choice, in evidence and on the command line. */
  name: Evidence["source"];
  /** The number of endpoints that must agree. Undefined if the source needs exactly one endpoint. */
  required?: number;
  /**
   * Checks that the endpoints are independent of each other. Each endpoint is a URL, or a function that sends requests.
   * Only a source with `required` has this check.
   * @throws ArgumentError ARGUMENT_INVALID
   */
  checkEndpoints?: (endpoints: readonly unknown[]) => void;
  /**
   * True if the contract's answer must be proven under the block's state root. A proof is useful only if the header can
   * be trusted. If a dishonest endpoint could choose the header, it could also prove a false answer under it.
   */
  storageProof: boolean;
  /** The confirmation state of the block, unless the source determines it. */
  tag: BlockTag;
  maxAgeMs?: number | undefined;
  findBlock: (request: BlockRequest) => Promise<FoundBlock>;
  /**
   * Finds the block of a bundle without a network. Undefined if the source cannot do this.
   * @throws VerificationError UNANCHORED, or an error of `findBlock`
   */
  findInBundle?: (bundle: BundledBlock) => FoundBlock;
  /**
   * Checks whether the source still accepts evidence from the cache. The caller has already checked that the evidence
   * comes from a source with this name.
   * @param agreeing the number of the verifier's endpoints that gave this block and answer
   */
  accepts: (evidence: Evidence, agreeing: number) => boolean | Promise<boolean>;
}
