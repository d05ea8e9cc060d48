import { KeyrootError, VerificationError } from "keyroot/errors";
import { parseJson, ShapeChecker } from "keyroot/input";
import { MERKLE_ROOT } from "keyroot/merkle";
import type { Plan } from "../plan/plan.ts";
import type { Fees } from "../chain/fees.ts";

/** A transaction that was about to be sent: its nonce belongs to this root until the nonce is used. */
export interface Attempt {
  nonce: number;
  /** 64 hex digits in lower case. */
  root: string;
  /** The gas limit. */
  gas: number;
  /** In wei. */
  fees: Fees;
}

/**
 * What a publisher must remember from a crash to the next run. It reads everything else from the chain and the store.
 * Implementations MUST have written a change to permanent storage when its promise is fulfilled.
 */
export interface Journal {
  /** The unfinished plan; undefined if there is none. */
  readPlan(): Promise<Plan | undefined>;
  /** Stores a new plan and deletes the attempts of the one before, together. */
  writePlan(plan: Plan): Promise<void>;
  /** Stores a transaction. The publisher calls this before it sends the transaction. */
  recordAttempt(attempt: Attempt): Promise<void>;
  /** All attempts since the plan was written, the oldest first. */
  attempts(): readonly Attempt[];
  /** Deletes the plan, whose users are all published, and its attempts. */
  finish(): Promise<void>;
}

/** Serializes an attempt as one line of JSON. */
export function serializeAttempt({ nonce, root, gas, fees }: Attempt): string {
  const texts = Object.entries(fees).map(([name, wei]) => [name, String(wei)]);
  return JSON.stringify({ nonce, root, gas, fees: Object.fromEntries(texts) as unknown });
}

const WEI = /^\d{1,78}$/;
const shape = new ShapeChecker((message, details) => new VerificationError("file", "PLAN_INVALID", message, details));

/**
 * Parses what `serializeAttempt` returned.
 * @throws VerificationError PLAN_INVALID
 */
export function parseAttempt(text: string): Attempt {
  try {
    const { nonce, root, gas, fees } = shape.object("attempt", parseJson(text, 2), ["nonce", "root", "gas", "fees"]);
    return {
      nonce: shape.count("attempt.nonce", nonce),
      root: shape.text("attempt.root", root, MERKLE_ROOT),
      gas: shape.count("attempt.gas", gas),
      fees: parseFees(fees),
    };
  } catch (cause) {
    if (!(cause instanceof KeyrootError)) throw cause;
    const message =
      `A recorded transaction of the plan is damaged: ${cause.message} If no transaction of the registry's owner is ` +
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
