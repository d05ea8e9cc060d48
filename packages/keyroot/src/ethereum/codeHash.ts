import { hexToBytes } from "../bytes/platform.ts";
import { VerificationError } from "../errors.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { BlockParameter } from "./blocks.ts";
import { isData, invalidAnswer } from "./rpcValues.ts";

/** Keccak-256 of no bytes: the code hash of an account without code (EIP-1052). */
export const EMPTY_CODE_HASH = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

/**
 * Fetches a contract's code and computes its hash (EIP-1052). Returns `EMPTY_CODE_HASH` if the address has no code.
 * @param contract 0x and 40 hex digits
 * @returns 0x and 64 lowercase hex digits
 * @throws TransportError RPC_ANSWER_INVALID, and as the call
 */
export async function fetchCodeHash(call: RpcCall, contract: string, block: BlockParameter): Promise<string> {
  const code = await call("eth_getCode", [contract, block]);
  if (!isData(code)) throw invalidAnswer("a contract's code (0x and an even number of hex digits)", code);
  // Loaded on demand: most apps do not need Keccak-256.
  const { keccak256 } = await import("./keccak.ts");
  return keccak256(hexToBytes(code.slice(2)));
}

/**
 * Checks a contract's code hash. undefined as the expected hash accepts any code.
 * @throws VerificationError CODE_HASH_MISMATCH, step "root"
 */
export function checkCodeHash(contract: string, expected: string | undefined, actual: string | undefined): void {
  if (expected === undefined || actual === expected) return;
  const message = `The code of the contract ${contract} has the hash ${actual} instead of ${expected}.`;
  throw new VerificationError("root", "CODE_HASH_MISMATCH", message, { expected, actual });
}
