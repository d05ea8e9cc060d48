import { TransportError } from "keyroot/errors";
import { USER_ID_BYTES, type UserID, userIDFromBytes } from "keyroot/identity";
import { plural } from "../../shared/plural.ts";
import type { Registry } from "../chain/registry.ts";

/**
 * Number of extra users in an estimate. Each costs at least 22,100 gas, so two leave room for the margin that a
 * transaction gets on top of its estimate (`GAS_MARGIN`).
 */
const EXTRA_USERS = 2;

/**
 * Finds how many users one transaction can publish: the node must be able to estimate it, and a block must hold it. Limits
 * differ between chains and forks, so the node decides. Estimates with worst-case ids (no zero byte), so any real batch of
 * this size fits.
 * @param max the most users to try
 * @returns 1 to `max`
 * @throws TransportError as the node if it rejects even a single user
 */
export async function usersPerTransaction(registry: Registry, max: number): Promise<number> {
  const { gasLimit } = await registry.chain.block("latest");
  const rejectionOf = async (count: number): Promise<unknown> => {
    try {
      const userIDs = Array.from({ length: count + EXTRA_USERS }, (_, i) => worstCaseID(i));
      const gas = await registry.estimateGas(registry.addRootCall({ root: "ff".repeat(32), userIDs }, false));
      if (gas <= gasLimit) return undefined;
      return new TransportError(
        "RPC_ERROR",
        `A transaction of ${plural(count, "user")} needs ${gas} gas, a block has ${gasLimit}.`,
      );
    } catch (error) {
      if (error instanceof TransportError && error.code === "RPC_ERROR") return error;
      throw error;
    }
  };
  if ((await rejectionOf(max)) === undefined) return max;
  const rejection = await rejectionOf(1);
  if (rejection !== undefined) throw rejection as Error;
  let fits = 1;
  let tooMany = max;
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if ((await rejectionOf(middle)) === undefined) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

/** An id without a zero byte: a zero byte of calldata costs 4 gas, any other 16 (EIP-2028). */
function worstCaseID(i: number): UserID {
  const digits = Array.from({ length: 4 }, (_, place) => 1 + (Math.floor(i / 255 ** place) % 255));
  return userIDFromBytes(new Uint8Array(USER_ID_BYTES).fill(0xff).map((byte, place) => digits[place] ?? byte));
}
