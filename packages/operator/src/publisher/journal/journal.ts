import { KeyrootError } from "keyroot/internal/errors";
import { LOWERCASE_ADDRESS, LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { parseJson, ShapeChecker } from "keyroot/internal/input";
import { MERKLE_ROOT } from "keyroot/internal/merkle";
import { VerificationError } from "../../errors.ts";
import type { Plan } from "../plan/plan.ts";
import type { Fees } from "../chain/fees.ts";

/**
 * A transaction that was about to be sent. Its nonce stays reserved for the root until a transaction with this nonce is
 * in a block.
 */
export interface Attempt {
  nonce: number;
  /** The root: 64 lowercase hex digits. */
  root: string;
  gas: number;
  /** The fees in wei per unit of gas. */
  fees: Fees;
  /** The maximum data fee in wei, on rollups that charge for bytes in addition to gas. */
  dataFee?: bigint | undefined;
  /** The time of signing in ms since 1970. Undefined in journals of version 0.2. */
  time?: number | undefined;
  /** The transaction hash: 0x and 64 lowercase hex digits. Undefined until a node confirms the transaction. */
  hash?: string | undefined;
  /** The chain and the registry, in the format of `registryKeyOf`. */
  registry?: string | undefined;
  /** The account that signs: 0x and 40 lowercase hex digits. Undefined in journals of version 0.2. */
  sender?: string | undefined;
}

/** The period of `CostLimits.maxCostPerDay`, in ms. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** The minimum number of attempts that a journal keeps after a plan is finished. */
const KEPT_ATTEMPTS = 10_000;

/**
 * Returns how many of the newest attempts to keep after a plan is finished. These are at least 10,000, and all attempts
 * of the last day, because the cost limit per day includes them.
 * @param attempts the attempts, the oldest first
 */
export function countKeptAttempts(attempts: readonly Attempt[], now = Date.now()): number {
  const recent = attempts.findIndex(({ time }) => time !== undefined && time > now - DAY_MS);
  return Math.max(KEPT_ATTEMPTS, recent === -1 ? 0 : attempts.length - recent);
}

/**
 * The data that a publisher needs after a crash. All other data is on the chain and in the store. Implementations MUST
 * write each change to permanent storage before they fulfill its promise.
 */
export interface Journal {
  /** Returns the unfinished plan, or undefined. */
  readPlan(): Promise<Plan | undefined>;
  /** Replaces the stored plan with a new plan. */
  writePlan(plan: Plan): Promise<void>;
  /** Records a transaction before it is sent, and again with its hash. */
  recordAttempt(attempt: Attempt): Promise<void>;
  /**
   * Returns all attempts of this plan and the newest attempts of earlier plans, the oldest first. They count toward the
   * cost limits per plan and per day. They also show which transactions may have added a root.
   */
  attempts(): readonly Attempt[];
  /**
   * Deletes the plan after all its users are published. The newest attempts are kept, as many as `countKeptAttempts`
   * returns.
   */
  finish(): Promise<void>;
}

/** The part of a journal that records attempts. */
export type AttemptJournal = Pick<Journal, "attempts" | "recordAttempt">;

/**
 * Returns a view of the journal with only the attempts for one registry, because a journal may contain attempts for
 * several registries.
 * @param registry the result of `registryKeyOf`
 */
export function attemptsFor(journal: Journal, registry: string): AttemptJournal {
  return {
    attempts: () => journal.attempts().filter((attempt) => (attempt.registry ?? registry) === registry),
    recordAttempt: (attempt) => journal.recordAttempt({ ...attempt, registry }),
  };
}

/** Records the attempts of a root again for another root, which takes over their nonces and their costs. */
export async function moveAttempts(journal: AttemptJournal, root: string, newRoot: string): Promise<void> {
  const attempts = journal.attempts().filter((attempt) => attempt.root === root);
  for (const attempt of attempts) await journal.recordAttempt({ ...attempt, root: newRoot });
}

/** Serializes an attempt as one line of JSON. */
export function serializeAttempt({ fees, dataFee, ...attempt }: Attempt): string {
  const texts = Object.entries(fees).map(([name, wei]) => [name, String(wei)]);
  return JSON.stringify({ ...attempt, fees: Object.fromEntries(texts) as unknown, dataFee: dataFee?.toString() });
}

const FIELDS = ["nonce", "root", "gas", "fees", "dataFee", "time", "hash", "registry", "sender"] as const;
const REGISTRY = /^[0-9a-fx-]{1,128}$/;
const WEI = /^\d{1,78}$/;
const shape = new ShapeChecker((message, details) => new VerificationError("file", "PLAN_INVALID", message, details));

/**
 * Parses a line that `serializeAttempt` has written.
 * @throws VerificationError PLAN_INVALID
 */
export function parseAttempt(text: string): Attempt {
  try {
    const attempt = shape.fields("attempt", parseJson(text, 2), FIELDS);
    const { nonce, root, gas, fees, dataFee, time, hash, registry, sender } = attempt;
    return {
      nonce: shape.count("attempt.nonce", nonce),
      root: shape.text("attempt.root", root, MERKLE_ROOT),
      gas: shape.count("attempt.gas", gas),
      fees: parseFees(fees),
      ...(dataFee !== undefined && { dataFee: BigInt(shape.text("attempt.dataFee", dataFee, WEI)) }),
      ...(time !== undefined && { time: shape.count("attempt.time", time) }),
      ...(hash !== undefined && { hash: shape.text("attempt.hash", hash, LOWERCASE_HASH) }),
      ...(registry !== undefined && { registry: shape.text("attempt.registry", registry, REGISTRY) }),
      ...(sender !== undefined && { sender: shape.text("attempt.sender", sender, LOWERCASE_ADDRESS) }),
    };
  } catch (cause) {
    if (!(cause instanceof KeyrootError)) throw cause;
    const message =
      `A recorded transaction of the plan is damaged. ${cause.message} If no transaction of the registry's owner is ` +
      "pending, delete the plan and publish again.";
    throw new VerificationError("file", "PLAN_INVALID", message, { cause });
  }
}

function parseFees(fees: unknown): Fees {
  const wei = (name: string, value: unknown) => BigInt(shape.text(`attempt.fees.${name}`, value, WEI));
  const { gasPrice } = shape.fields("attempt.fees", fees, ["gasPrice"]);
  if (gasPrice !== undefined) return { gasPrice: wei("gasPrice", gasPrice) };
  const names = ["maxFeePerGas", "maxPriorityFeePerGas"] as const;
  const { maxFeePerGas, maxPriorityFeePerGas } = shape.object("attempt.fees", fees, names);
  return {
    maxFeePerGas: wei("maxFeePerGas", maxFeePerGas),
    maxPriorityFeePerGas: wei("maxPriorityFeePerGas", maxPriorityFeePerGas),
  };
}
