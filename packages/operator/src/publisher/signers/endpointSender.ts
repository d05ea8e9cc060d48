import { toQuantity } from "keyroot/internal/ethereum";
import { ArgumentError } from "../../errors.ts";
import type { Registry } from "../chain/registry.ts";
import type { SendTransaction } from "./signer.ts";

/**
 * Creates a function that sends the owner's transactions through the registry's endpoint. The endpoint must hold the
 * owner's key, as a local node or Hardhat's keystore does.
 * @param chainId the id of the chain to sign for. Each request contains the id, so a node of another chain rejects the
 *   request
 * @throws ArgumentError NOT_OWNER if the endpoint does not sign for the owner; TransportError the errors of `chain`
 */
export async function endpointSender(
  { chain, owner, contract }: Pick<Registry, "chain" | "owner" | "contract">,
  chainId: number,
): Promise<SendTransaction> {
  const accounts = await chain.withRetry(() => chain.call("eth_accounts", []));
  if (!Array.isArray(accounts) || !accounts.some((account) => String(account).toLowerCase() === owner.toLowerCase())) {
    const message =
      `Only the owner ${owner} can add roots to ${contract}, and the endpoint does not sign for it. Use an endpoint with ` +
      "the owner's key, or set KEYROOT_KEY_FILE or KEYROOT_SIGNER_URL.";
    throw new ArgumentError("NOT_OWNER", message, { expected: owner, actual: accounts });
  }
  return async (transaction) => {
    const request = { ...transaction, chainId: toQuantity(chainId) };
    return (await chain.call("eth_sendTransaction", [request])) as string;
  };
}
