/** The cost of publishing after the next fork of a chain. */

/**
 * Chains whose next fork is Amsterdam, by chain id: Ethereum and Hoodi. It has no date there.
 * Source: EIP-7773, https://eips.ethereum.org/EIPS/eip-7773
 */
const BEFORE_AMSTERDAM: readonly number[] = [1, 560_048];

/**
 * The gas that a new storage slot costs more: 64 bytes of state at 1,530 gas and 2,900 gas for the write, instead of 20,000.
 * Source: EIP-8037, https://eips.ethereum.org/EIPS/eip-8037
 */
const MORE_PER_SLOT = 64 * 1_530 + 2_900 - 20_000;

/** The most that EIP-8038 adds for the access to a new slot, by its draft: https://eips.ethereum.org/EIPS/eip-8038 */
const MORE_PER_ACCESS = 8_200;

/** Gas per user that no batch exceeds before the fork, unless it has a single user. */
const MOST_BEFORE = 60_000;

/** The gas of a plan after a fork. */
export interface NextForkGas {
  fork: "Amsterdam";
  /** With the prices that are fixed. */
  gas: number;
  /** With prices that may still rise. */
  gasAtMost: number;
}

/**
 * The gas of a plan after the chain's next fork.
 * @param estimate the plan's present gas. Each user and each transaction stores one new slot
 * @returns undefined if the chain has announced no fork that changes the gas, or has it already
 */
export function nextForkGas(
  chainId: number,
  { gas, users, transactions }: { gas: number; users: number; transactions: number },
): NextForkGas | undefined {
  const slots = users + transactions;
  if (!BEFORE_AMSTERDAM.includes(chainId) || gas / slots > MOST_BEFORE) return undefined;
  const later = gas + slots * MORE_PER_SLOT;
  return { fork: "Amsterdam", gas: later, gasAtMost: later + slots * MORE_PER_ACCESS };
}
