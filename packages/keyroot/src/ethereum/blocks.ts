import { describeValue } from "../input/describeValue.ts";
import { isObject } from "../input/json.ts";
import { TransportError, VerificationError } from "../errors.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { toHash } from "./hash.ts";
import { type BlockHeader, hashHeader, extractHeader } from "./header.ts";
import { parseSafeQuantity, toQuantity } from "./quantity.ts";

/** A block as JSON-RPC names it: a tag, such as "latest", a number as a quantity, or a hash (EIP-1898). */
export type BlockParameter = string | { blockHash: string };

/** Fetches the chain's id (EIP-155). @throws TransportError RPC_ANSWER_INVALID, and as the call */
export async function fetchChainId(call: RpcCall): Promise<number> {
  return parseSafeQuantity(await call("eth_chainId", []));
}

/**
 * Fetches the hash of the chain's first block, as the endpoint reports it. It distinguishes test chains that share a chain
 * id. It proves nothing.
 * @returns 0x and 64 lowercase hex digits
 * @throws TransportError RPC_ANSWER_INVALID, and as the call
 */
export async function fetchGenesisHash(call: RpcCall): Promise<string> {
  const block = await call("eth_getBlockByNumber", [toQuantity(0), false]);
  return toHash(isObject(block) ? block["hash"] : block);
}

/**
 * Fetches a block's header by number or tag, and verifies that it has the hash that the endpoint reports.
 * @param tag a number, or "latest", "safe" or "finalized"
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, step "anchor"; TransportError RPC_ANSWER_INVALID, and as the
 * call
 */
export async function fetchBlock(call: RpcCall, tag: string | number): Promise<BlockHeader> {
  const answer = await call("eth_getBlockByNumber", [typeof tag === "number" ? toQuantity(tag) : tag, false]);
  if (answer === null) throw new TransportError("RPC_ANSWER_INVALID", `The endpoint has no block ${tag}.`);
  const block = hashHeader(extractHeader(answer));
  const { hash } = answer as { hash?: unknown };
  if (typeof hash !== "string" || hash.toLowerCase() !== block.hash)
    throw headerMismatch(describeValue(hash), block.hash);
  if (typeof tag !== "number" || block.number === tag) return block;
  const message = `The endpoint returned the block ${block.number} instead of ${tag}.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { expected: tag, actual: block.number });
}

/**
 * Fetches a block's header by hash, and verifies that it has this hash.
 * @param hash 0x and 64 lowercase hex digits
 * @throws as `fetchBlock`
 */
export async function fetchBlockByHash(call: RpcCall, hash: string): Promise<BlockHeader> {
  const answer = await call("eth_getBlockByHash", [hash, false]);
  if (answer === null) throw new TransportError("RPC_ANSWER_INVALID", `The endpoint does not know the block ${hash}.`);
  const block = hashHeader(extractHeader(answer));
  if (block.hash !== hash) throw headerMismatch(hash, block.hash);
  return block;
}

function headerMismatch(expected: string, actual: string): VerificationError {
  const message = `The endpoint's block header has the hash ${actual}, but the block's hash is ${expected}.`;
  return new VerificationError("anchor", "HEADER_MISMATCH", message, { expected, actual });
}
