import { TransportError } from "../errors.ts";
import { isObject } from "../input/values.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/** The slots of one contract at one block that are requested together, and the response. */
interface SharedRequest {
  slots: string[];
  answer: Promise<unknown>;
}

/**
 * Maximum number of slots in a request. Even in a trie of a billion slots, the proof of a slot has at most 10 nodes of
 * 1,066 characters. With 32 slots, the response therefore stays below the maximum size for `eth_getProof`.
 */
const MAX_SLOTS = 32;

/** The requests that wait for more slots, by endpoint, contract and block. */
const waiting = new WeakMap<RpcCall, Map<string, SharedRequest>>();

/**
 * Requests the proofs of storage slots (EIP-1186). Concurrent calls about the same contract and block share one
 * request. Otherwise, each response would contain the same proof of the account. If an endpoint refuses the shared
 * request, the slots of this call are requested alone.
 * @param hash the hash of the block: 0x and 64 lowercase hex digits
 * @returns the response, with the proofs of these slots in `storageProof`
 */
export async function requestProof(
  call: RpcCall,
  contract: string,
  slots: readonly string[],
  hash: string,
): Promise<unknown> {
  const send = (slots: readonly string[]) => call("eth_getProof", [contract, slots, { blockHash: hash }]);
  const requests = waiting.get(call) ?? new Map<string, SharedRequest>();
  waiting.set(call, requests);
  const key = contract + hash;
  const open = requests.get(key);
  const shared = open && open.slots.length + slots.length <= MAX_SLOTS ? open : newRequest();
  requests.set(key, shared);

  function newRequest(): SharedRequest {
    const slots: string[] = [];
    // All calls of the same turn can add their slots.
    const answer = Promise.resolve().then(() => {
      if (requests.get(key)?.slots === slots) requests.delete(key);
      return send(slots);
    });
    return { slots, answer };
  }

  const { slots: all, answer } = shared;
  const start = all.push(...slots) - slots.length;
  try {
    const proof = await answer;
    const { storageProof } = isObject(proof) ? proof : {};
    return all.length === slots.length || !Array.isArray(storageProof)
      ? proof
      : { ...(proof as object), storageProof: storageProof.slice(start, start + slots.length) as unknown };
  } catch (error) {
    const isRefusal = error instanceof TransportError && ["RPC_ERROR", "ANSWER_TOO_LARGE"].includes(error.code);
    if (isRefusal && all.length > slots.length) return send(slots);
    throw error;
  }
}
