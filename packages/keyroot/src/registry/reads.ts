import { KeyrootError, VerificationError } from "../errors.ts";
import type { BlockParameter } from "../ethereum/blocks.ts";
import { isData } from "../ethereum/rpcData.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { decodeBlockNumber, decodeOwner, decodeUserCount } from "./answers.ts";
import { encodeGetBlockNumber, OWNER_CALL, USER_COUNT_CALL } from "./calldata.ts";

/**
 * Fetches the registry's owner, the only account that can add roots.
 * @returns 0x and 40 lowercase hex digits
 */
export async function fetchOwner(call: RpcCall, contract: string, block: BlockParameter = "latest"): Promise<string> {
  return decodeOwner(await call("eth_call", [{ to: contract, data: OWNER_CALL }, block]));
}

/**
 * Fetches the number of users who have a root.
 * @throws VerificationError NO_USER_COUNT if the contract, such as `PubKeyTrust`, has no function `userCount`
 */
export async function fetchUserCount(
  call: RpcCall,
  contract: string,
  block: BlockParameter = "latest",
): Promise<number> {
  try {
    return decodeUserCount(await call("eth_call", [{ to: contract, data: USER_COUNT_CALL }, block]));
  } catch (cause) {
    if (!(cause instanceof KeyrootError) || !["RPC_ERROR", "NO_CONTRACT"].includes(cause.code)) throw cause;
    // Nodes report a missing function in different ways, but the code contains the selectors of all functions.
    const code = await call("eth_getCode", [contract, block]);
    if (!isData(code) || code === "0x" || code.toLowerCase().includes(USER_COUNT_CALL.slice(2))) throw cause;
    const message = `The contract ${contract} has no function userCount(), so it is not a PublicKeyRegistry. It may be the predecessor PubKeyTrust. An audit needs the number of users to show that no user is missing.`;
    throw new VerificationError("root", "NO_USER_COUNT", message, { cause });
  }
}

/**
 * Fetches the number of the block in which a root was first set, or 0 for an unknown root. For `ZERO_ROOT`, the result
 * is the number of the block in which the contract was deployed.
 * @param root 64 lowercase hex digits
 */
export async function fetchBlockNumber(
  call: RpcCall,
  contract: string,
  root: string,
  block: BlockParameter = "latest",
): Promise<number> {
  return decodeBlockNumber(await call("eth_call", [{ to: contract, data: encodeGetBlockNumber(root) }, block]));
}
