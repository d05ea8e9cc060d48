import {
  checkCodeHash,
  extractProof,
  fetchBlock,
  fetchBlockByHash,
  fetchCodeHash,
  verifyStorageProof,
} from "keyroot/ethereum";
import { decodeUserCount, fetchBlockNumber, fetchUserCount, USER_COUNT_SLOT, ZERO_ROOT } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { type Evidence, verifyChainId } from "keyroot/verifier";
import { checkBlock } from "./checkBlock.ts";
import type { BlockCursor } from "./checkBlock.ts";

/** The contract to audit, and the block at which to audit it. */
export interface AuditedContract {
  /** The chain id that the endpoint must have (EIP-155). */
  chainId: number;
  /** The registry's address: 0x and 40 hex digits. */
  contract: string;
  /** The expected Keccak-256 of the contract's code: 0x and 64 hex digits. Default: any code. */
  codeHash?: string | undefined;
  /** The block: its hash, which the caller has from another source (by default `pinned`), or a tag. Default: `latest`. */
  at?: { blockHash: string; anchor?: Evidence["anchor"] } | "latest" | "safe" | "finalized" | undefined;
  /** Requires a storage proof under that block for the number of users, and for the code hash if given. Default: false. */
  storageProof?: boolean | undefined;
}

/** The contract's answers at that block. */
export interface ContractCounts {
  /** The number of users who have a root. */
  userCount: number;
  /** The block in which the contract was deployed: no event is older. */
  deploymentBlock: number;
  /** Keccak-256 of the contract's code, if it was read: 0x and 64 hex digits. */
  codeHash: string | undefined;
  evidence: Evidence & { block: NonNullable<Evidence["block"]> };
}

/**
 * Fetches the block, and reads the number of users at it.
 * @param last the newest block of an earlier run
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, CHAIN_ID_MISMATCH, NO_CONTRACT, NO_USER_COUNT,
 * CODE_HASH_MISMATCH, PROOF_INVALID; TransportError as the call
 */
export async function readCounts(
  call: RpcCall,
  audited: AuditedContract,
  last: BlockCursor | undefined,
): Promise<ContractCounts> {
  const { contract, chainId, at = "latest", storageProof = false } = audited;
  verifyChainId(audited, { chainId: await call("eth_chainId", []) });
  const block = typeof at === "string" ? await fetchBlock(call, at) : await fetchBlockByHash(call, at.blockHash);
  if (typeof at === "string") checkBlock(block, { chainId, last });
  const here = { blockHash: block.hash };
  // The contract records the block of its deployment under the zero root.
  const deploymentBlock = await fetchBlockNumber(call, contract, ZERO_ROOT, here);
  // Also with a proof, because a contract without this function may use the slot for other data.
  let userCount = await fetchUserCount(call, contract, here);
  let codeHash: string | undefined;
  if (storageProof) {
    const answer = await call("eth_getProof", [contract, [USER_COUNT_SLOT], here]);
    const slot = verifyStorageProof(block.stateRoot, contract, USER_COUNT_SLOT, extractProof(answer));
    userCount = decodeUserCount(slot?.value ?? "0x");
    codeHash = slot?.codeHash;
  } else {
    if (audited.codeHash !== undefined) codeHash = await fetchCodeHash(call, contract, here);
  }
  checkCodeHash(contract, audited.codeHash, codeHash);
  const { hash, number, timestamp } = block;
  const anchor = typeof at === "string" ? "endpoint" : (at.anchor ?? "pinned");
  return {
    userCount,
    deploymentBlock,
    codeHash,
    evidence: { anchor, storageProof, block: { hash, number, timestamp } },
  };
}
