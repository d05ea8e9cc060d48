import { ArgumentError } from "keyroot/errors";
import type { Registry } from "../chain/registry.ts";
import type { SendTransaction } from "../transactions/transactions.ts";

/**
 * Sends in the owner's name through the registry's own endpoint, which holds the owner's key: a local node, or Hardhat with
 * its keystore.
 * @throws ArgumentError NOT_OWNER
 */
export async function endpointSender({ chain, owner, contract }: Registry): Promise<SendTransaction> {
  const accounts = await chain.patiently(() => chain.call("eth_accounts", []));
  if (!Array.isArray(accounts) || !accounts.some((account) => String(account).toLowerCase() === owner.toLowerCase())) {
    const message = `Only the owner ${owner} can add roots to ${contract}, and the endpoint does not sign for it.`;
    throw new ArgumentError("NOT_OWNER", message, { expected: owner, actual: accounts });
  }
  return async (transaction) => (await chain.call("eth_sendTransaction", [transaction])) as string;
}
