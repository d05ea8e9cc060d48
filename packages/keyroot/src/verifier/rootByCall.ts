import { loadModule } from "../engine/loadModule.ts";
import type { BlockParameter } from "../ethereum/blocks.ts";
import { encodeGetMerkleTreeRoot } from "../registry/calldata.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { callContract } from "./callContract.ts";
import type { RootQuery } from "./options.ts";

/** An endpoint's unchecked answers about a user's root. */
export interface RootAnswers {
  /** The result of `eth_chainId`. */
  chainId: unknown;
  /** The Keccak-256 of the contract's code: 0x and 64 hex digits. Undefined if the query contains no code hash. */
  codeHash: string | undefined;
  /** The result of calling `getMerkleTreeRoot` with `eth_call`, or the same 32 bytes from a storage proof. */
  root: unknown;
  /** The same for the query's `nextSlotID`, at the same block. */
  nextRoot?: unknown;
}

/**
 * Reads a user's root with `eth_call` (docs/specification.md, "Step 1"). If the query contains a code hash, the
 * contract's code is read, too.
 */
export async function readRootByCall(query: RootQuery, call: RpcCall, block: BlockParameter): Promise<RootAnswers> {
  const { userID, nextSlotID, contract, codeHash: expected } = query;
  // This module is loaded on demand, because most apps do not need Keccak-256. It is loaded before the first call is
  // sent, so that all calls can share one request.
  const hashing = expected === undefined ? undefined : await loadModule(() => import("../ethereum/fetchCodeHash.ts"));
  const pairs = nextSlotID === undefined ? undefined : await loadModule(() => import("./twoRootsByCall.ts"));
  const [chainId, roots, codeHash] = await Promise.all([
    call("eth_chainId", []),
    pairs && nextSlotID !== undefined
      ? pairs.readTwoRoots(call, contract, [userID, nextSlotID], block)
      : callContract(call, contract, encodeGetMerkleTreeRoot(userID), block).then((root) => ({ root })),
    hashing?.fetchCodeHash(call, contract, block),
  ]);
  return { chainId, codeHash, ...roots };
}
