import { Interface } from "ethers";
import { TransportError, VerificationError } from "keyroot/errors";
import type { RpcCall } from "keyroot/transport";

/** The parts of the contract's interface that the operator calls or listens to. */
export const registryAbi = new Interface([
  "function owner() view returns (address)",
  "function userCount() view returns (uint256)",
  "function getBlockNumber(bytes32 merkleTreeRoot) view returns (uint256)",
  "event MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount)",
]);

/**
 * Calls one of the registry's view functions and returns its single value.
 * @throws VerificationError NO_CONTRACT; TransportError RPC_ANSWER_INVALID, and as the call
 */
export async function readRegistry(
  call: RpcCall,
  contract: string,
  name: string,
  ...args: unknown[]
): Promise<unknown> {
  const data = registryAbi.encodeFunctionData(name, args);
  const answer = await call("eth_call", [{ to: contract, data }, "latest"]);
  if (answer === "0x") {
    const message = `There is no Keyroot registry at ${contract}: the answer is empty. Check the address and the chain.`;
    throw new VerificationError("root", "NO_CONTRACT", message, { actual: answer });
  }
  return decodeAbi(answer, () => registryAbi.decodeFunctionResult(name, answer as string)[0] as unknown);
}

/** Decodes an endpoint's answer. @throws TransportError RPC_ANSWER_INVALID */
function decodeAbi<T>(answer: unknown, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    const message = "The endpoint's answer to eth_call has the wrong form.";
    throw new TransportError("RPC_ANSWER_INVALID", message, { actual: answer, cause });
  }
}
