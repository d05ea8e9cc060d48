import { TransportError } from "keyroot/internal/errors";
import type { BlockParameter } from "keyroot/internal/ethereum";
import type { UserID } from "keyroot/internal/identity";
import { readMerkleTreeRoots } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { nodeAnswerTo } from "../rpc/nodeAnswers.ts";

/** A user who has a root in the contract. */
export interface UserRoot {
  userID: UserID;
  /** The root: 64 lowercase hex digits. */
  root: string;
}

/**
 * Returns users' roots at a block, in the order of the users. Each is 64 lowercase hex digits, or undefined for a user
 * without a root. If the endpoint rejects a call because of its size, the roots are read in several smaller calls.
 * @throws the errors of `readMerkleTreeRoots`
 */
export function readRoots(
  call: RpcCall,
  contract: string,
  userIDs: readonly UserID[],
  block: BlockParameter,
): Promise<(string | undefined)[]> {
  return readMerkleTreeRoots(call, contract, userIDs, { block, canSplit });
}

function canSplit(error: unknown): boolean {
  if (!(error instanceof TransportError) || error.code !== "RPC_ERROR") return false;
  const { reaction, means } = nodeAnswerTo(error, "eth_call");
  return reaction === "end" && means === undefined;
}
