import { isLoopback } from "keyroot/transport";

/**
 * The chain ids of development chains: 31337 of Hardhat and Anvil, 1337 of Geth's developer mode and Ganache. A
 * transaction that is signed for one of them is invalid on every other chain (EIP-155).
 */
const LOCAL_CHAIN_IDS: readonly number[] = [31337, 1337];

/** True for the chain id of a development chain. */
export function isLocalChainId(chainId: number): boolean {
  return LOCAL_CHAIN_IDS.includes(chainId);
}

/**
 * True for a development chain on this machine: it has the id of one, and its endpoint is a loopback address.
 * @param chainId the id that transactions are signed for, from the operator. An endpoint's answer must not decide
 */
export function isLocalChain(rpcUrl: string, chainId: number): boolean {
  return isLocalChainId(chainId) && URL.canParse(rpcUrl) && isLoopback(new URL(rpcUrl).hostname);
}
