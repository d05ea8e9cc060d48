import { VerificationError } from "keyroot/errors";
import { fetchBlock, fetchBlockByHash } from "keyroot/ethereum";
import { decodeUserCount, fetchBlockNumber, fetchUserCount, USER_COUNT_SLOT, ZERO_ROOT } from "keyroot/registry";
import { extractProof, verifyStorageProof } from "keyroot/ethereum";
import type { RpcCall } from "keyroot/transport";
import type { Evidence } from "keyroot/verifier";
import { fetchCodeHash } from "keyroot/ethereum";
import { verifyChainId } from "keyroot/verifier";

/** Which contract is audited, and as of which block. */
export interface AuditedContract {
  /** The chain that must answer (EIP-155). */
  chainId: number;
  /** 0x and 40 hex digits. */
  contract: string;
  /** Keccak-256 of the contract's code, 0x and 64 hex digits, where nothing else is to be believed. */
  codeHash?: string | undefined;
  /** The block: by its hash, from a source of the caller's own, or by a tag. */
  at: { blockHash: string } | "latest" | "safe" | "finalized";
  /** Has the number of users, and the code, shown by a storage proof under that block. */
  storageProof: boolean;
}

/** What the contract says of itself at a block. */
export interface Counts {
  userCount: number;
  /** The block in which the contract was deployed: no event is older. */
  deploymentBlock: number;
  evidence: Evidence & { block: NonNullable<Evidence["block"]> };
}

/**
 * Finds the block, and reads at it how many users the contract counts.
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, CHAIN_ID_MISMATCH, NO_CONTRACT, CODE_HASH_MISMATCH,
 * PROOF_INVALID; TransportError as the call
 */
export async function readCounts(call: RpcCall, audited: AuditedContract): Promise<Counts> {
  const { contract, at, storageProof } = audited;
  verifyChainId(audited, { chainId: await call("eth_chainId", []) });
  const block = typeof at === "string" ? await fetchBlock(call, at) : await fetchBlockByHash(call, at.blockHash);
  const here = { blockHash: block.hash };
  const deploymentBlock = await fetchBlockNumber(call, contract, ZERO_ROOT, here);
  let userCount: number;
  let codeHash: string | undefined;
  if (storageProof) {
    const answer = await call("eth_getProof", [contract, [USER_COUNT_SLOT], here]);
    const proven = verifyStorageProof(block.stateRoot, contract, USER_COUNT_SLOT, extractProof(answer));
    userCount = decodeUserCount(proven?.value ?? "0x");
    codeHash = proven?.codeHash;
  } else {
    userCount = await fetchUserCount(call, contract, here);
    if (audited.codeHash !== undefined) {
      codeHash = await fetchCodeHash(call, contract, here);
    }
  }
  if (audited.codeHash !== undefined && audited.codeHash !== codeHash) {
    const message = `The code at ${contract} has the hash ${codeHash}, expected was ${audited.codeHash}.`;
    throw new VerificationError("root", "CODE_HASH_MISMATCH", message, {
      expected: audited.codeHash,
      actual: codeHash,
    });
  }
  const { hash, number, timestamp } = block;
  const anchor = typeof at === "string" ? "endpoint" : "pinned";
  return { userCount, deploymentBlock, evidence: { anchor, storageProof, block: { hash, number, timestamp } } };
}
