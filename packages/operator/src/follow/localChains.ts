import { isLoopback } from "keyroot/internal/transport";

/**
 * The chain ids of development chains: 31337 for Hardhat and Anvil, 1337 for Geth's developer mode and Ganache. A
 * transaction that is signed for one of them is invalid on every other chain (EIP-155).
 */
const LOCAL_CHAIN_IDS: readonly number[] = [31337, 1337];

/** Returns true for the chain id of a development chain. */
export function isLocalChainId(chainId: number): boolean {
  return LOCAL_CHAIN_IDS.includes(chainId);
}

/**
 * Returns true for a development chain on this machine. The chain must have the id of a development chain, and its
 * endpoint must have a loopback address.
 * @param chainId the chain id for which transactions are signed. It must come from the operator, never from the
 *   endpoint
 */
export function isLocalChain(rpcUrl: string, chainId: number): boolean {
  return isLocalChainId(chainId) && URL.canParse(rpcUrl) && isLoopback(new URL(rpcUrl).hostname);
}

/**
 * Returns a chain's name for files and folders, such as `1`. Development chains share their ids, so the name of a
 * development chain also contains the first 8 digits of the genesis hash, as in `31337-a1b2c3d4`.
 * @param genesisHash the hash of a development chain's first block: 0x and 64 hex digits
 */
export function chainKeyOf(chainId: number, genesisHash: string | undefined): string {
  return genesisHash === undefined ? String(chainId) : `${chainId}-${genesisHash.slice(2, 10)}`;
}
