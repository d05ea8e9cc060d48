import { VerificationError } from "keyroot/errors";
import { extractProof, fetchBlock, fetchBlockByHash, fetchCodeHash, verifyStorageProof } from "keyroot/ethereum";
import { decodeUserCount, fetchBlockNumber, fetchUserCount, USER_COUNT_SLOT, ZERO_ROOT } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { type Evidence, verifyChainId } from "keyroot/verifier";

/** The contract to audit, and the block at which to audit it. */
export interface AuditedContract {
  /** The chain id that the endpoint must have (EIP-155). */
  chainId: number;
  /** The registry's address: 0x and 40 hex digits. */
  contract: string;
  /** The expected Keccak-256 of the contract's code: 0x and 64 hex digits. Default: any code. */
  codeHash?: string | undefined;
  /** The block: its hash, which the caller has from another source, or a tag. Default: `latest`. */
  at?: { blockHash: string } | "latest" | "safe" | "finalized" | undefined;
  /** Whether a storage proof under that block must prove the number of users, and the code hash if given. Default: false. */
  storageProof?: boolean | undefined;
}

/** What the contract returns at that block. */
export interface ContractCounts {
  /** The number of users who have a root. */
  userCount: number;
  /** The block in which the contract was deployed: no event is older. */
  deploymentBlock: number;
  evidence: Evidence & { block: NonNullable<Evidence["block"]> };
}

/**
 * Fetches the block, and reads the number of users at it.
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, CHAIN_ID_MISMATCH, NO_CONTRACT, NO_USER_COUNT,
 * CODE_HASH_MISMATCH, PROOF_INVALID; TransportError as the call
 */
export async function readCounts(call: RpcCall, audited: AuditedContract): Promise<ContractCounts> {
  const { contract, at = "latest", storageProof = false } = audited;
  verifyChainId(audited, { chainId: await call("eth_chainId", []) });
  const block = typeof at === "string" ? await fetchBlock(call, at) : await fetchBlockByHash(call, at.blockHash);
  const here = { blockHash: block.hash };
  // The contract records the block of its deployment under the zero root.
  const deploymentBlock = await fetchBlockNumber(call, contract, ZERO_ROOT, here);
  // Also under a proof: a contract without this function has something else in the slot.
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
  if (audited.codeHash !== undefined && audited.codeHash !== codeHash) {
    const message = `The code at ${contract} has the hash ${codeHash}, expected ${audited.codeHash}.`;
    throw new VerificationError("root", "CODE_HASH_MISMATCH", message, {
      expected: audited.codeHash,
      actual: codeHash,
    });
  }
  const { hash, number, timestamp } = block;
  const anchor = typeof at === "string" ? "endpoint" : "pinned";
  return { userCount, deploymentBlock, evidence: { anchor, storageProof, block: { hash, number, timestamp } } };
}
