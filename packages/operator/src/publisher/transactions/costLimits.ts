import { ArgumentError } from "keyroot/errors";
import { checkOptions } from "../../input/checkOptions.ts";
import { type Fees, maxGasPriceOf } from "../chain/fees.ts";
import { isLocalChainId } from "../chain/localChains.ts";

/** What publishing may cost. An endpoint's prices and estimates never raise these limits. */
export interface CostLimits {
  /** The most wei per unit of gas that a transaction may offer, base fee and priority fee together. */
  maxFeePerGas: bigint;
  /**
   * The most wei per unit of gas for a block's producer. Default: a quarter of `maxFeePerGas`. The base fee is the chain's,
   * so a false base fee costs nothing, but the priority fee is paid as it was signed.
   */
  maxPriorityFeePerGas?: bigint | undefined;
  /**
   * The most wei of one run, at worst: every signed transaction counts with its whole gas limit at its highest fee, since
   * only these are certain without trust in the endpoint. Default: 150,000 gas per file and 50,000 per user at
   * `maxFeePerGas`, about twice what a transaction needs on Ethereum.
   */
  maxCost?: bigint | undefined;
}

const LIMITS: Record<keyof CostLimits, true> = { maxFeePerGas: true, maxPriorityFeePerGas: true, maxCost: true };
const MAX_FEE_PER_PRIORITY_FEE = 4n;
const GAS_PER_FILE = 150_000n;
const GAS_PER_USER = 50_000n;

/** The priority fee's limit. @returns in wei per unit of gas */
export function maxPriorityFeeOf({ maxFeePerGas, maxPriorityFeePerGas }: CostLimits): bigint {
  return maxPriorityFeePerGas ?? maxFeePerGas / MAX_FEE_PER_PRIORITY_FEE;
}

/** @throws ArgumentError ARGUMENT_INVALID if there are no limits although the chain is not a development chain */
export function checkLimits(limits: CostLimits | "local" | undefined, chainId: number): void {
  if (limits === "local" && isLocalChainId(chainId)) return;
  if (typeof limits === "object") checkOptions("The option limits' fields", limits, LIMITS);
  if (limits === undefined || limits === "local" || typeof limits.maxFeePerGas !== "bigint") {
    const message =
      `Set \`limits\` to what publishing on the chain ${chainId} may cost: at least { maxFeePerGas }, in wei. Only on chains ` +
      'with the ids 31337 and 1337 may it be "local".';
    throw new ArgumentError("ARGUMENT_INVALID", message, { actual: chainId });
  }
}

/** Sums what the transactions of one run cost at worst. */
export class CostBudget {
  readonly #limits: CostLimits;
  readonly #costOfNonce = new Map<number, bigint>();
  #maxCost: bigint;

  constructor(limits: CostLimits) {
    this.#limits = limits;
    this.#maxCost = limits.maxCost ?? 0n;
  }

  /** In wei. */
  get maxCost(): bigint {
    return this.#maxCost;
  }

  /** Adds the default allowance of a plan's batches, unless the operator has set a limit. */
  allowFor(batches: readonly { users: number }[]): void {
    if (this.#limits.maxCost !== undefined) return;
    for (const { users } of batches) {
      this.#maxCost += this.#limits.maxFeePerGas * (GAS_PER_FILE + GAS_PER_USER * BigInt(users));
    }
  }

  /** Whether a transaction may be signed. Of the transactions with one nonce, only the most expensive one counts. */
  allows(nonce: number, gas: number, fees: Fees): boolean {
    let sum = this.#costWith(nonce, gas, fees);
    for (const [other, cost] of this.#costOfNonce) if (other !== nonce) sum += cost;
    return sum <= this.#maxCost;
  }

  record(nonce: number, gas: number, fees: Fees): void {
    this.#costOfNonce.set(nonce, this.#costWith(nonce, gas, fees));
  }

  #costWith(nonce: number, gas: number, fees: Fees): bigint {
    const cost = BigInt(gas) * maxGasPriceOf(fees);
    const before = this.#costOfNonce.get(nonce) ?? 0n;
    return cost > before ? cost : before;
  }
}
