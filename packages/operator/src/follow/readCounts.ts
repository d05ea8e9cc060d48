import { VerificationError } from "keyroot/internal/errors";
import {
  checkCodeHash,
  extractProof,
  fetchBlock,
  fetchBlockByHash,
  fetchCodeHash,
  verifyStorageProof,
} from "keyroot/internal/ethereum";
import {
  decodeUserCount,
  fetchBlockNumber,
  fetchUserCount,
  USER_COUNT_SLOT,
  ZERO_ROOT,
} from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { type Evidence, verifyChainId } from "keyroot/internal/verifier";
import type { RetryOptions } from "../http/retry.ts";
import { repeatRead } from "../rpc/repeatReads.ts";
import { type BlockCursor, checkBlock } from "./blocks.ts";

/** The contract to audit, and the block of the audit. */
export interface AuditedContract {
  /** The chain id that the endpoint must report (EIP-155). */
  chainId: number;
  /** The address of the registry: 0x and 40 hex digits. */
  contract: string;
  /** The expected Keccak-256 of the contract's code: 0x and 64 hex digits. Default: any code. */
  codeHash?: string | undefined;
  /**
   * The block of the audit, as a tag or as the hash of a block from another source. `source` names this other source,
   * and is `pinned-block` by default. Default: `latest`.
   */
  at?:
    | ({ blockHash: string } & Partial<Pick<Evidence, "source" | "details">>)
    | "latest"
    | "safe"
    | "finalized"
    | undefined;
  /** Reads the user count and the code hash with a storage proof. Default: false. */
  storageProof?: boolean | undefined;
}

/** The counts that the contract returned at the block. */
export interface ContractCounts {
  /** The number of users who have a root. */
  userCount: number;
  /** The block in which the contract was deployed. No event is older than this block. */
  deploymentBlock: number;
  /** Keccak-256 hash of the contract's code: 0x and 64 hex digits. Undefined if the code was not read. */
  codeHash: string | undefined;
  evidence: Evidence & { block: NonNullable<Evidence["block"]> };
}

/**
 * Returns the number of users that the contract counts. For a contract that does not count its users, such as
 * PubKeyTrust, it returns undefined.
 * @throws TransportError the errors of `call`
 */
export async function fetchUserCountIfAny(...args: Parameters<typeof fetchUserCount>): Promise<number | undefined> {
  try {
    return await fetchUserCount(...args);
  } catch (error) {
    if (error instanceof VerificationError && error.code === "NO_USER_COUNT") return undefined;
    throw error;
  }
}

/**
 * Fetches the block to audit, and reads the user count and the deployment block at it.
 * @param call repeats requests after temporary failures
 * @param last the newest block of an earlier run
 * @param retry how often to ask again for a block that a node does not have yet
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, CHAIN_ID_MISMATCH, NO_CONTRACT, NO_USER_COUNT,
 *   CODE_HASH_MISMATCH, PROOF_INVALID; TransportError the errors of `call`
 */
export async function readCounts(
  call: RpcCall,
  audited: AuditedContract,
  last: BlockCursor | undefined,
  retry?: RetryOptions,
): Promise<ContractCounts> {
  const { contract, chainId, at = "latest", storageProof = false } = audited;
  verifyChainId(audited, { chainId: await call("eth_chainId", []) });
  const block = await repeatRead(
    () => (typeof at === "string" ? fetchBlock(call, at) : fetchBlockByHash(call, at.blockHash)),
    retry,
  );
  if (typeof at === "string") checkBlock(block, { chainId, last });
  const here = { blockHash: block.hash };
  // The contract records its deployment block under the zero root.
  const deploymentBlock = await fetchBlockNumber(call, contract, ZERO_ROOT, here);
  // Call the contract's function even if a storage proof follows. A contract without this function may use the proven
  // slot for other data, so the proof alone would not be enough.
  let userCount = await fetchUserCount(call, contract, here);
  let codeHash: string | undefined;
  if (storageProof) {
    const answer = await call("eth_getProof", [contract, [USER_COUNT_SLOT], here]);
    const slot = verifyStorageProof(block.stateRoot, contract, USER_COUNT_SLOT, extractProof(answer));
    userCount = decodeUserCount(slot?.value ?? "0x");
    codeHash = slot?.codeHash;
  } else if (audited.codeHash !== undefined) codeHash = await fetchCodeHash(call, contract, here);
  checkCodeHash(contract, audited.codeHash, codeHash);
  const { hash, number, timestamp } = block;
  const { source = "pinned-block", details } =
    typeof at === "string" ? ({ source: "one-endpoint", details: undefined } as const) : at;
  return {
    userCount,
    deploymentBlock,
    codeHash,
    evidence: { source, ...(details && { details }), block: { hash, number, timestamp }, storageProof },
  };
}
