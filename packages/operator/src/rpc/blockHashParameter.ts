import { TransportError } from "keyroot/internal/errors";
import { fetchBlockByHash, toQuantity } from "keyroot/internal/ethereum";
import { isObject } from "keyroot/internal/input";
import type { RpcCall } from "keyroot/internal/transport";
import { nodeAnswerTo } from "./nodeAnswers.ts";

/**
 * Creates a function that can read at a block hash from any endpoint. Several gateways accept only block numbers
 * (EIP-1898). For them, the function sends the number of the block, and then checks that this number still has the
 * hash.
 * @throws TransportError RPC_ANSWER_INVALID if the block is no longer on the chain; and the errors of `call`
 */
export function acceptBlockHashes(call: RpcCall): RpcCall {
  let needsNumbers = false;
  return async (method, params) => {
    const at = params.findIndex(isBlockHash);
    if (at === -1) return call(method, params);
    if (!needsNumbers) {
      try {
        return await call(method, params);
      } catch (error) {
        if (nodeAnswerTo(error, method).means !== "no block hash") throw error;
        needsNumbers = true;
      }
    }
    const { blockHash } = params[at] as { blockHash: string };
    const number = toQuantity((await fetchBlockByHash(call, blockHash)).number);
    const answer = await call(method, params.with(at, number));
    const block = await call("eth_getBlockByNumber", [number, false]);
    const hash = isObject(block) ? block["hash"] : undefined;
    if (typeof hash === "string" && hash.toLowerCase() === blockHash.toLowerCase()) return answer;
    const message = `The endpoint's block ${Number(number)} no longer has the hash ${blockHash}. Run the command again.`;
    throw new TransportError("RPC_ANSWER_INVALID", message, { expected: blockHash });
  };
}

function isBlockHash(param: unknown): boolean {
  return isObject(param) && Object.keys(param).length === 1 && typeof param["blockHash"] === "string";
}
