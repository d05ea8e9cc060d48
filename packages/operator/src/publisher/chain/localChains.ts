import { isLoopback } from "keyroot/internal/transport";

/**
 * The chain ids of development chains: 31337 for Hardhat and Anvil, 1337 for Geth's developer mode and Ganache. A transaction
 * that is signed for one of these ids is invalid on every other chain (EIP-155).
 */
const LOCAL_CHAIN_IDS: readonly number[] = [31337, 1337];

/** Returns true for the chain id of a development chain. */
export function isLocalChainId(chainId: number): boolean {
  return LOCAL_CHAIN_IDS.includes(chainId);
}

/**
 * Returns true for a development chain on this machine: the chain has the id of a development chain, and the endpoint
 * has a loopback address.
 * @param chainId the chain id for which transactions are signed. The id must come from the operator, never from the
 * endpoint
 */
export function isLocalChain(rpcUrl: string, chainId: number): boolean {
  return isLocalChainId(chainId) && URL.canParse(rpcUrl) && isLoopback(new URL(rpcUrl).hostname);
}
