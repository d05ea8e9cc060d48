import { argumentInvalid } from "../../errors.ts";
import { checkOptions } from "../../checkOptions.ts";
import { type Attempt, DAY_MS } from "../journal/journal.ts";
import { type Fees, maxGasPriceOf, priorityFeeOf } from "../chain/fees.ts";
import { isLocalChainId } from "../../follow/index.ts";
import { describeGasPrice, type ExceededLimit, feeTooHigh } from "./sendErrors.ts";

/** Limits on the cost of publishing. The prices and estimates of an endpoint never raise these limits. */
export interface CostLimits {
  /** The maximum wei per unit of gas that a transaction may offer, including base fee and priority fee. */
  maxFeePerGas: bigint;
  /**
   * The maximum wei per unit of gas for the producer of the block (priority fee). It has its own limit because the
   * signed priority fee is always paid in full. The base fee needs no limit of its own, because the chain sets it and
   * an endpoint cannot change it. Default: a quarter of `maxFeePerGas`.
   */
  maxPriorityFeePerGas?: bigint | undefined;
  /**
   * The maximum cost of a plan over all runs, in wei. Every signed transaction is counted with its whole gas limit at
   * its highest fee, so a false response of the endpoint cannot make it look cheaper. Transactions that an earlier plan
   * signed for the same root are counted, too.
   *
   * The default allows 150,000 gas per file plus an amount per user, at the price `maxFeePerGas`. The amount per user
   * is twice the estimated gas, but at least 50,000 and at most 250,000. Ethereum needs 22,660 per user now, and will
   * need about 111,700 after the fork Amsterdam.
   */
  maxCost?: bigint | undefined;
  /**
   * The maximum cost of all plans within 24 hours, in wei. Transactions in the journal are counted in the same way as
   * for `maxCost`. Default: no limit.
   */
  maxCostPerDay?: bigint | undefined;
}

/** The limits of a run on gas prices, in wei per unit of gas. Undefined means that the operator has set no limit. */
export interface FeeLimits {
  maxFeePerGas: bigint | undefined;
  maxPriorityFeePerGas: bigint | undefined;
}

const LIMITS: Record<keyof CostLimits, true> = {
  ...{ maxFeePerGas: true, maxPriorityFeePerGas: true },
  ...{ maxCost: true, maxCostPerDay: true },
};
const MAX_UINT256 = 2n ** 256n - 1n;
/** The option that limits the priority fee, for messages (`maxPriorityFeeOf`). */
const PRIORITY_FEE_SETTING = "--max-priority-fee, by default a quarter of --max-fee";
const GAS_PER_FILE = 150_000n;
const MIN_GAS_PER_USER = 50_000;
/** The maximum gas per user in the default, independent of an endpoint's estimates. */
const MAX_GAS_PER_USER = 250_000;

/** Requires limits unless the chain is a development chain. @throws ArgumentError ARGUMENT_INVALID */
export function checkLimits(limits: CostLimits | "local" | undefined, chainId: number): void {
  if (limits === "local" && isLocalChainId(chainId)) return;
  if (typeof limits === "object") checkOptions("The limits option's fields", limits, LIMITS);
  if (limits === undefined || limits === "local" || typeof limits.maxFeePerGas !== "bigint") {
    const message =
      `Publishing on the chain ${chainId} needs limits on its cost. Set \`limits\` to at least { maxFeePerGas }, in wei. ` +
      'The value "local" is allowed only on chains with the ids 31337 and 1337.';
    throw argumentInvalid(message, { actual: chainId });
  }
}

/**
 * Rejects a recorded transaction whose fees are above the limits. Such fees may come from an earlier run with other
 * limits, or from an attacker who changed the journal.
 * @throws TransportError FEE_TOO_HIGH
 */
export function checkRecordedFees(
  fees: Fees,
  { maxFeePerGas = MAX_UINT256, maxPriorityFeePerGas = maxFeePerGas }: FeeLimits,
): void {
  const [maxFee, priorityFee] = [maxGasPriceOf(fees), priorityFeeOf(fees)];
  if (maxFee > maxFeePerGas)
    throw feeTooHigh(`The plan's recorded transaction offers ${describeGasPrice(maxFee)}`, maxFeePerGas, maxFee);
  if (priorityFee <= maxPriorityFeePerGas) return;
  const problem = `The plan's recorded transaction offers a priority fee of ${describeGasPrice(priorityFee)}`;
  throw feeTooHigh(problem, maxPriorityFeePerGas, priorityFee, PRIORITY_FEE_SETTING);
}

/** The fields of a transaction that determine its cost. */
type Priced = Pick<Attempt, "nonce" | "gas" | "fees" | "dataFee">;

/** Returns the maximum cost of a transaction in wei: the whole gas limit at the highest fee, plus the data fee. */
export function worstCostOf({ gas, fees, dataFee = 0n }: Priced): bigint {
  return BigInt(gas) * maxGasPriceOf(fees) + dataFee;
}

/** Sums the maximum costs of transactions per plan and per day, including the transactions of earlier runs. */
export class CostBudget {
  readonly #limits: CostLimits;
  /** The registry of new transactions, in the format of `registryKeyOf`. */
  readonly #registry: string;
  /** The account that signs new transactions, in lower case. */
  readonly #sender: string;
  readonly #plan = new Spending();
  readonly #day = new Spending();
  #maxCost: bigint;

  constructor(limits: CostLimits, registry = "", sender = "") {
    this.#limits = limits;
    this.#registry = registry;
    this.#sender = sender.toLowerCase();
    this.#maxCost = limits.maxCost ?? 0n;
  }

  /** The maximum cost of the plan in wei. */
  get maxCost(): bigint {
    return this.#maxCost;
  }

  /**
   * Adds the default allowance for the batches of a plan, unless the operator has set a limit.
   * @param gasPerUser the node's estimate
   */
  allowFor(batches: readonly { users: number }[], gasPerUser: number): void {
    if (this.#limits.maxCost !== undefined) return;
    const perUser = BigInt(Math.min(Math.max(Math.ceil(2 * gasPerUser), MIN_GAS_PER_USER), MAX_GAS_PER_USER));
    for (const { users } of batches) {
      this.#maxCost += this.#limits.maxFeePerGas * (GAS_PER_FILE + perUser * BigInt(users));
    }
  }

  /**
   * Returns the limit that a transaction would exceed, with the value of this limit in wei. If the transaction may be
   * signed, it returns undefined.
   */
  exceededBy(transaction: Priced, now = Date.now()): ExceededLimit | undefined {
    const cost = worstCostOf(transaction);
    const { maxCostPerDay } = this.#limits;
    const key = this.#keyOf({ nonce: transaction.nonce });
    if (this.#plan.sumWith(key, cost) > this.#maxCost) return { limit: "maxCost", wei: this.#maxCost };
    this.#day.forgetBefore(now - DAY_MS);
    if (maxCostPerDay === undefined || this.#day.sumWith(key, cost) <= maxCostPerDay) return undefined;
    return { limit: "maxCostPerDay", wei: maxCostPerDay };
  }

  /**
   * Adds the cost of the attempts in the journal. All attempts count toward the cost of the day, and attempts for the
   * plan's roots also toward the cost of the plan. Version 0.2 recorded attempts without a sender. They are treated as
   * attempts of the current sender.
   *
   * If the operator has set no `maxCost`, the default is an amount of gas at the current maximum fee. An attempt with a
   * higher fee then counts toward the cost of the plan with this maximum fee.
   */
  recordEarlier(attempts: readonly Attempt[], roots: ReadonlySet<string>): void {
    const { maxCost, maxFeePerGas } = this.#limits;
    for (const attempt of attempts) {
      const key = this.#keyOf(attempt);
      if (attempt.time !== undefined) this.#day.record(key, worstCostOf(attempt), attempt.time);
      if (!roots.has(attempt.root) || (attempt.registry ?? this.#registry) !== this.#registry) continue;
      const isCapped = maxCost === undefined && maxGasPriceOf(attempt.fees) > maxFeePerGas;
      this.#plan.record(key, worstCostOf(isCapped ? { ...attempt, fees: { gasPrice: maxFeePerGas } } : attempt), 0);
    }
  }

  record(transaction: Priced, now = Date.now()): void {
    const key = this.#keyOf({ nonce: transaction.nonce });
    this.#plan.record(key, worstCostOf(transaction), now);
    this.#day.record(key, worstCostOf(transaction), now);
  }

  #keyOf({ nonce, registry = this.#registry, sender = this.#sender }: Pick<Attempt, "nonce" | "registry" | "sender">) {
    return `${registry} ${sender} ${nonce}`;
  }
}

/**
 * A sum of costs in wei. Of all transactions with the same nonce, it includes only the most expensive one, because an
 * account can use a nonce only once.
 */
class Spending {
  /** The costs by registry, sender and nonce. The last recorded cost is at the end. */
  readonly #costs = new Map<string, { cost: bigint; time: number }>();
  #sum = 0n;

  sumWith(key: string, cost: bigint): bigint {
    const before = this.#costs.get(key)?.cost ?? 0n;
    return cost > before ? this.#sum - before + cost : this.#sum;
  }

  record(key: string, cost: bigint, time: number): void {
    const before = this.#costs.get(key)?.cost ?? 0n;
    this.#sum = this.sumWith(key, cost);
    this.#costs.delete(key);
    this.#costs.set(key, { cost: cost > before ? cost : before, time });
  }

  forgetBefore(time: number): void {
    for (const [key, { cost, time: recorded }] of this.#costs) {
      if (recorded > time) return;
      this.#costs.delete(key);
      this.#sum -= cost;
    }
  }
}
