import { TransportError } from "keyroot/errors";
import { type UserID, userIDFromBytes, USER_ID_BYTES } from "keyroot/identity";
import type { Registry } from "../chain/registry.ts";

/**
 * The gas that a transaction is given beyond its estimate, which the rest is returned of: the state may change before its
 * block comes. The first call ever costs 17,100 more than any later one, and a reorganisation may make it the first again.
 */
export const GAS_MARGIN = 25_000;
/** Each user costs 22,100 gas or more: a transaction that could take two more has room for the margin. */
const USERS_OF_MARGIN = 2;

/**
 * How many users one transaction can take, `most` at the most: the node estimates the gas of transactions, and its block
 * must hold it. Limits differ from chain to chain and fork to fork: only the node knows. What is estimated are the dearest
 * users there are, nobody's, whose ids have no zero byte: where they fit, as many others do.
 * @throws TransportError as the node refuses even a single user
 */
export async function usersPerTransaction(registry: Registry, most: number): Promise<number> {
  const { gasLimit } = await registry.chain.block("latest");
  const refusalOf = async (count: number): Promise<unknown> => {
    try {
      const userIDs = Array.from({ length: count + USERS_OF_MARGIN }, (_, i) => dearestUser(i));
      const gas = await registry.estimateGas(registry.addition({ root: "ff".repeat(32), userIDs }, false));
      return gas <= gasLimit
        ? undefined
        : new TransportError("RPC_ERROR", `A block holds ${gasLimit} gas, not ${gas}.`);
    } catch (error) {
      if (error instanceof TransportError && error.code === "RPC_ERROR") return error;
      throw error;
    }
  };
  if ((await refusalOf(most)) === undefined) return most;
  const refusal = await refusalOf(1);
  if (refusal !== undefined) throw refusal as Error;
  let fits = 1;
  let tooMany = most;
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if ((await refusalOf(middle)) === undefined) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

/** An id of which every byte costs as much as a byte can. */
function dearestUser(i: number): UserID {
  const digits = Array.from({ length: 4 }, (_, place) => 1 + (Math.floor(i / 255 ** place) % 255));
  return userIDFromBytes(new Uint8Array(USER_ID_BYTES).fill(0xff).map((byte, place) => digits[place] ?? byte));
}
