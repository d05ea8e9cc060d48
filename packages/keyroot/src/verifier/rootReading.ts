import type { BlockParameter } from "../ethereum/blocks.ts";
import { fetchCodeHash } from "../ethereum/codeHash.ts";
import type { Evidence } from "../evidence.ts";
import { encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { KeyQuery } from "./options.ts";

/** An endpoint's answers about a user's root, unchecked. */
export interface ChainAnswers {
  /** The result of `eth_chainId`. */
  chainId: unknown;
  /** Keccak-256 of the contract's code, 0x and 64 hex digits; undefined if it was not requested. */
  codeHash: string | undefined;
  /** The result of `eth_call` of `getMerkleTreeRoot`, or the same 32 bytes from a storage proof. */
  root: unknown;
}

/** Calls the contract with this calldata, 0x and hex. */
export type ContractCall = (data: string) => Promise<unknown>;

/** The answers about a user's root, and the evidence for them. */
export interface RootReading {
  answers: ChainAnswers;
  evidence: Evidence;
  /** The indexes of the endpoints that agreed on the block, and of those that agreed on the answer. */
  agreed: readonly (readonly number[])[];
  /**
   * Calls the contract at the same block. The answer is the word of the endpoint, or of the endpoints of the quorum.
   */
  callContract: ContractCall;
}

/**
 * Requests the root, and the code's hash if the query has one.
 * @param block the block at which to read the code
 * @throws TransportError RPC_ANSWER_INVALID, and as the calls
 */
export async function requestAnswers(
  { userID, contract, codeHash: expected }: KeyQuery,
  call: RpcCall,
  callContract: ContractCall,
  block: BlockParameter,
): Promise<ChainAnswers> {
  const [chainId, root, codeHash] = await Promise.all([
    call("eth_chainId", []),
    callContract(encodeGetMerkleTreeRoot(userID)),
    expected === undefined ? undefined : fetchCodeHash(call, contract, block),
  ]);
  return { chainId, root, codeHash };
}
