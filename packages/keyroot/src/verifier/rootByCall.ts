import type { BlockParameter } from "../ethereum/blocks.ts";
import { invalidAnswer } from "../ethereum/rpcValues.ts";
import { encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { RootQuery } from "./options.ts";

/** An endpoint's unchecked answers about a user's root. */
export interface RootAnswers {
  /** The result of `eth_chainId`. */
  chainId: unknown;
  /** The Keccak-256 of the contract's code: 0x and 64 hex digits. Undefined if the query contains no code hash. */
  codeHash: string | undefined;
  /** The result of calling `getMerkleTreeRoot` with `eth_call`, or the same 32 bytes from a storage proof. */
  root: unknown;
}

/**
 * Reads a user's root with `eth_call` (docs/specification.md, "Step 1"). Also reads the contract's code if the query
 * contains a code hash.
 * @throws TransportError RPC_ANSWER_INVALID, and the errors of the call
 */
export async function readRootByCall(
  { userID, contract, codeHash: expected }: RootQuery,
  call: RpcCall,
  block: BlockParameter,
): Promise<RootAnswers> {
  // This module is loaded on demand, because most apps do not use Keccak-256. Load the module before the calls, so that
  // all calls can share one request.
  const hashing = expected === undefined ? undefined : await import("../ethereum/fetchCodeHash.ts");
  const [chainId, root, codeHash] = await Promise.all([
    call("eth_chainId", []),
    callContract(call, contract, encodeGetMerkleTreeRoot(userID), block),
    hashing?.fetchCodeHash(call, contract, block),
  ]);
  return { chainId, root, codeHash };
}

/**
 * Calls a contract at a block (EIP-1898).
 * @param data the calldata: 0x and hex
 * @returns the result in lower case. Equal results are equal texts.
 * @throws TransportError RPC_ANSWER_INVALID, and the errors of the call
 */
export async function callContract(
  call: RpcCall,
  contract: string,
  data: string,
  block: BlockParameter,
): Promise<string> {
  const answer = await call("eth_call", [{ to: contract, data }, block]);
  if (typeof answer === "string") return answer.toLowerCase();
  throw invalidAnswer("bytes in hex", answer);
}
