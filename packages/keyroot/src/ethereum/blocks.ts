import { describeValue } from "../input/describeValue.ts";
import { TransportError, VerificationError } from "../errors.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { type BlockHeader, hashHeader, extractHeader } from "./header.ts";

/**
 * The block at a height or tag, with its hash recomputed from its header.
 * @param tag a number, or "latest", "safe", "finalized"
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, step "anchor"; TransportError RPC_ANSWER_INVALID, and as the call
 */
export async function fetchBlock(call: RpcCall, tag: string | number): Promise<BlockHeader> {
  const at = typeof tag === "number" ? `0x${tag.toString(16)}` : tag;
  const answer = await call("eth_getBlockByNumber", [at, false]);
  if (answer === null) throw new TransportError("RPC_ANSWER_INVALID", `The endpoint has no block ${tag}.`);
  const block = hashHeader(extractHeader(answer));
  const { hash } = answer as { hash?: unknown };
  if (typeof hash !== "string" || hash.toLowerCase() !== block.hash)
    throw headerMismatch(describeValue(hash), block.hash);
  if (typeof tag !== "number" || block.number === tag) return block;
  const message = `The endpoint answers with block ${block.number} instead of ${tag}.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { expected: tag, actual: block.number });
}

/**
 * The block of a hash: its header is the one that hashes to it.
 * @param hash 0x and 64 hex digits in lower case
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
  const message = `The header that the endpoint gives has the hash ${actual}, its block should have ${expected}.`;
  return new VerificationError("anchor", "HEADER_MISMATCH", message, { expected, actual });
}
