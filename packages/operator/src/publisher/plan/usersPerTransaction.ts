import { TransportError } from "keyroot/internal/errors";
import { USER_ID_BYTES, type UserID, userIDFromBytes } from "keyroot/internal/identity";
import { plural } from "../../plural.ts";
import type { Registry } from "../chain/registry.ts";
import { maxUsersBySize } from "../chain/transactionSize.ts";

/**
 * The extra users in an estimate, which leave room for `GAS_MARGIN`. Two are enough, because each user costs at least
 * 22,100 gas.
 */
const EXTRA_USERS = 2;
/** A number of users that fits into a transaction on most chains. Its estimate gives the gas per user. */
const SAMPLE_USERS = 20;
/**
 * The gas limit per transaction on Ethereum since the fork Osaka (EIP-7825). The search only begins at this limit,
 * because the node's estimates decide which number of users fits.
 */
const TRANSACTION_GAS = 2 ** 24;
/** The maximum relative difference between the result and the highest number that fits. */
const TOLERANCE = 1 / 50;

/**
 * Finds how many users one transaction can publish. A node must accept the transaction in an estimate, and a block must
 * have room for it. Limits and prices differ between chains and forks, so only the node's estimates count.
 *
 * The estimates use user ids without zero bytes. These cost the most gas, so any real batch of this size fits. A few
 * estimates are enough, because every further user adds the same amount. Nodes also limit the size of a transaction.
 * Estimates do not show this limit, so it is calculated.
 * @param max the maximum number of users to try
 * @returns 1 to `max`
 * @throws TransportError the node's error if it rejects even a single user
 */
export async function usersPerTransaction(registry: Registry, max: number): Promise<number> {
  max = Math.min(max, maxUsersBySize(false));
  const { gasLimit } = await registry.chain.block("latest");
  /** Returns the gas of a transaction, or the reason why the transaction does not fit. */
  const gasOf = async (users: number): Promise<number | TransportError> => {
    try {
      const userIDs = Array.from({ length: users + EXTRA_USERS }, (_, i) => worstCaseID(i));
      const gas = await registry.estimateGas(registry.addRootCall({ root: "ff".repeat(32), userIDs }, false));
      if (gas <= gasLimit) return gas;
      const message = `A transaction with ${plural(users, "user")} needs ${gas} gas, but a block has only ${gasLimit}.`;
      return new TransportError("RPC_ERROR", message);
    } catch (error) {
      if (error instanceof TransportError && error.code === "RPC_ERROR") return error;
      throw error;
    }
  };
  if (typeof (await gasOf(max)) === "number") return max;
  const first = await gasOf(1);
  if (typeof first !== "number") throw first as Error;
  let fits = { users: 1, gas: first };
  let tooMany = max;
  const test = async (users: number) => {
    if (users <= fits.users || users >= tooMany) return;
    const gas = await gasOf(users);
    if (typeof gas === "number") fits = { users, gas };
    else tooMany = users;
  };
  await test(SAMPLE_USERS);
  const gasPerUser = fits.users === 1 ? first : (fits.gas - first) / (fits.users - 1);
  for (const limit of [gasLimit, TRANSACTION_GAS]) await test(fits.users + Math.floor((limit - fits.gas) / gasPerUser));
  const step = () => Math.max(1, Math.floor(fits.users * TOLERANCE));
  await test(fits.users + step());
  while (tooMany - fits.users > step()) await test((fits.users + tooMany) >> 1);
  return fits.users;
}

/**
 * Creates a user id without zero bytes. A zero byte of calldata costs 4 gas, and any other byte costs 16 (EIP-2028).
 */
function worstCaseID(i: number): UserID {
  const digits = Array.from({ length: 4 }, (_, place) => 1 + (Math.floor(i / 255 ** place) % 255));
  return userIDFromBytes(new Uint8Array(USER_ID_BYTES).fill(0xff).map((byte, place) => digits[place] ?? byte));
}
