import { hexToBytes } from "../bytes/hex.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { BlockParameter } from "./blocks.ts";
import { keccak256 } from "./keccak.ts";
import { isData } from "./rpcData.ts";
import { invalidAnswer } from "./rpcValues.ts";

/**
 * Fetches a contract's code and computes its hash (EIP-1052). If the address has no code, the result is
 * `EMPTY_CODE_HASH`.
 * @param contract 0x and 40 hex digits
 * @returns 0x and 64 lowercase hex digits
 */
export async function fetchCodeHash(call: RpcCall, contract: string, block: BlockParameter): Promise<string> {
  const code = await call("eth_getCode", [contract, block]);
  if (!isData(code)) throw invalidAnswer("a contract's code (0x and an even number of hex digits)", code);
  return keccak256(hexToBytes(code.slice(2)));
}
