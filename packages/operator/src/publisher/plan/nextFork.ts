/** The gas of a plan under the rules of the fork Amsterdam, and the part of the gas that pays for state. */

/**
 * The ids of the chains with the next fork Amsterdam: Ethereum and Hoodi. The date of the fork is not set on either
 * chain. Source: EIP-7773, https://eips.ethereum.org/EIPS/eip-7773
 */
const BEFORE_AMSTERDAM: readonly number[] = [1, 560_048];

/**
 * The state gas of a new storage slot: 64 bytes at 1,530 gas per byte. The gas limit per transaction (EIP-7825) does
 * not include state gas. Source: EIP-8037, https://eips.ethereum.org/EIPS/eip-8037
 */
const STATE_GAS_PER_SLOT = 64 * 1_530;

/**
 * The extra gas of a new storage slot after the fork. The slot then costs the state gas plus 2,900 gas for the write, instead
 * of 20,000 gas (EIP-8037).
 */
const MORE_PER_SLOT = STATE_GAS_PER_SLOT + 2_900 - 20_000;

/** The maximum gas that the draft of EIP-8038 adds for access to a new slot. Source: https://eips.ethereum.org/EIPS/eip-8038 */
const MORE_PER_ACCESS = 8_200;

/** The maximum gas per slot of any batch before the fork. */
const MOST_BEFORE = 60_000;

/** The current gas of a plan. Each user and each transaction stores one new slot. */
interface PlanGas {
  gas: number;
  users: number;
  transactions: number;
}

/** The gas of a plan after a fork. */
export interface NextForkGas {
  fork: "Amsterdam";
  /** The gas at the prices that are already fixed. */
  gas: number;
  /** The part of `gas` that pays for new state. The rest is regular gas. */
  stateGas: number;
  /** The maximum gas after a rise of the prices that are not final yet. */
  gasAtMost: number;
}

/** Returns the part of a plan's gas that pays for new state. Returns 0 on a chain without the fork. */
export function stateGasOf(plan: PlanGas): number {
  return hasFork(plan) ? slotsOf(plan) * STATE_GAS_PER_SLOT : 0;
}

/**
 * Returns the gas of a plan after the chain's next fork.
 * @returns undefined if no fork that changes the gas is announced, or if the fork has already taken place
 */
export function nextForkGas(chainId: number, plan: PlanGas): NextForkGas | undefined {
  if (!BEFORE_AMSTERDAM.includes(chainId) || hasFork(plan)) return undefined;
  const slots = slotsOf(plan);
  const gas = plan.gas + slots * MORE_PER_SLOT;
  return { fork: "Amsterdam", gas, stateGas: slots * STATE_GAS_PER_SLOT, gasAtMost: gas + slots * MORE_PER_ACCESS };
}

function hasFork(plan: PlanGas): boolean {
  return plan.gas / slotsOf(plan) > MOST_BEFORE;
}

function slotsOf({ users, transactions }: PlanGas): number {
  return users + transactions;
}
