import { ArgumentError } from "keyroot/errors";
import { checkOptions } from "../../shared/checkOptions.ts";
import type { Attempt } from "../journal/journal.ts";
import { type Fees, maxGasPriceOf } from "../chain/fees.ts";
import { isLocalChainId } from "../chain/localChains.ts";

/** Limits of the cost of publishing. An endpoint's prices and estimates never raise these limits. */
export interface CostLimits {
  /** Maximum wei per unit of gas that a transaction may offer, base fee and priority fee together. */
  maxFeePerGas: bigint;
  /**
   * Maximum wei per unit of gas for a block's producer. Default: a quarter of `maxFeePerGas`. The base fee is the chain's,
   * so a false base fee costs nothing, but the priority fee is paid as it was signed.
   */
  maxPriorityFeePerGas?: bigint | undefined;
  /**
   * Maximum wei of a plan over all its runs, at worst: every signed transaction counts with its whole gas limit at its
   * highest fee, since only these are certain without trust in the endpoint. What was signed for the same root in an earlier
   * plan counts as well. Default: 150,000 gas per file and 50,000 per user at `maxFeePerGas`, about twice what a
   * transaction needs on Ethereum.
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

/** Sums what the transactions of a plan cost at worst, those of earlier runs included. */
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

  /** True if a transaction may be signed. Only the most expensive transaction of each nonce counts. */
  allows(nonce: number, gas: number, fees: Fees): boolean {
    let sum = this.#costWith(nonce, gas, fees);
    for (const [other, cost] of this.#costOfNonce) if (other !== nonce) sum += cost;
    return sum <= this.#maxCost;
  }

  /**
   * Counts the journal's attempts for these roots. The default allowance is an amount of gas at the present highest fee, so
   * attempts with a higher one count with the present one.
   */
  recordEarlier(attempts: readonly Attempt[], roots: ReadonlySet<string>): void {
    const { maxCost, maxFeePerGas } = this.#limits;
    for (const { nonce, root, gas, fees } of attempts) {
      if (!roots.has(root)) continue;
      const isCapped = maxCost === undefined && maxGasPriceOf(fees) > maxFeePerGas;
      this.record(nonce, gas, isCapped ? { gasPrice: maxFeePerGas } : fees);
    }
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
