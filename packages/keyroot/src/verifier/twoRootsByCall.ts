import { TransportError } from "../errors.ts";
import type { BlockParameter } from "../ethereum/blocks.ts";
import type { UserID } from "../identity/userID.ts";
import { encodeGetMerkleTreeRoot, ZERO_ROOT } from "../registry/calldata.ts";
import { readInOneCall } from "../registry/readMerkleTreeRoots.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { callContract } from "./callContract.ts";

/**
 * Reads the roots of two users in one call. Both answers are then from the same block, even if a load balancer
 * distributes calls to several nodes.
 */
export async function readTwoRoots(
  call: RpcCall,
  contract: string,
  [userID, nextSlotID]: readonly [UserID, UserID],
  block: BlockParameter,
): Promise<{ root: string; nextRoot?: string }> {
  try {
    const [root, nextRoot] = await readInOneCall(call, contract, [userID, nextSlotID], block);
    return { root: `0x${root ?? ZERO_ROOT}`, nextRoot: `0x${nextRoot ?? ZERO_ROOT}` };
  } catch (error) {
    if (!(error instanceof TransportError) || error.code !== "RPC_ERROR") throw error;
    // Without a contract at the address, the call above fails, but this one returns 0x, which means NO_CONTRACT.
    const root = await callContract(call, contract, encodeGetMerkleTreeRoot(userID), block);
    if (root === "0x") return { root };
    throw error;
  }
}
