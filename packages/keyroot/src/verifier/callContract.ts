import type { BlockParameter } from "../ethereum/blocks.ts";
import { invalidAnswer } from "../ethereum/rpcValues.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/**
 * Calls a contract at a block (EIP-1898).
 * @param data the calldata, 0x and hex
 * @returns the result in lower case, so that equal results are equal texts
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
