import { describeValue, isObject } from "../input/values.ts";
import { TransportError } from "../errors.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import { toHash } from "./rpcData.ts";
import { parseSafeQuantity, toQuantity } from "./rpcValues.ts";
import { type BlockHeader, checkHeaderHash, checkHeaderKind, extractHeader, hashHeader } from "./header.ts";

const SUBJECT = "The endpoint's header";

/** A block in a JSON-RPC call: a tag such as "latest", a number as a quantity, or a hash (EIP-1898). */
export type BlockParameter = string | { blockHash: string };

/** Fetches the chain id (EIP-155). @throws TransportError RPC_ANSWER_INVALID, and the errors of the call */
export async function fetchChainId(call: RpcCall): Promise<number> {
  return parseSafeQuantity(await call("eth_chainId", []));
}

/**
 * Fetches the hash of the chain's first block. It distinguishes test chains that have the same chain id. The endpoint's
 * answer is not proven.
 * @returns 0x and 64 lowercase hex digits
 */
export async function fetchGenesisHash(call: RpcCall): Promise<string> {
  const block = await call("eth_getBlockByNumber", [toQuantity(0), false]);
  return toHash(isObject(block) ? block["hash"] : block);
}

/**
 * Fetches a block header by number or tag, and verifies that its fields result in the hash that the response states.
 * @param tag a number, or "latest", "safe" or "finalized"
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, HEADER_UNSUPPORTED, step "anchor"
 */
export async function fetchBlock(call: RpcCall, tag: string | number): Promise<BlockHeader> {
  const answer = await call("eth_getBlockByNumber", [typeof tag === "number" ? toQuantity(tag) : tag, false]);
  const block = checkBlock(tag, answer);
  if (typeof tag !== "number" || block.number === tag) return block;
  const message = `The endpoint returned the block ${block.number} instead of ${tag}.`;
  throw new TransportError("RPC_ANSWER_INVALID", message, { expected: tag, actual: block.number });
}

/**
 * Fetches a block header by its hash, and verifies that its fields result in this hash.
 * @param hash 0x and 64 lowercase hex digits
 */
export async function fetchBlockByHash(call: RpcCall, hash: string): Promise<BlockHeader> {
  return checkBlock(hash, await call("eth_getBlockByHash", [hash, false]), hash);
}

/** Checks that an endpoint's block has the expected hash. Default: the hash in the block. */
function checkBlock(name: string | number, answer: unknown, expectedHash?: string): BlockHeader {
  if (answer === null) throw new TransportError("RPC_ANSWER_INVALID", `The endpoint has no block ${name}.`);
  try {
    const block = hashHeader(extractHeader(answer));
    const { hash } = answer as { hash?: unknown };
    const reported = typeof hash === "string" ? hash.toLowerCase() : describeValue(hash);
    checkHeaderHash(SUBJECT, block, expectedHash ?? reported);
    return block;
  } catch (error) {
    checkHeaderKind(answer, error);
    throw error;
  }
}
