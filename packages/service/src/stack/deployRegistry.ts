import { getAddress } from "ethers/address";
import { creationCodeOf } from "@keyroot/operator/publisher";
import { isObject } from "keyroot/internal/input";
import type { Eip1193Provider } from "keyroot/internal/transport";

/**
 * Deploys a registry on a local chain that mines immediately. The chain's first account pays and becomes the owner.
 * @returns the registry's address with checksum
 */
export async function deployRegistry(provider: Eip1193Provider): Promise<string> {
  const [from = ""] = (await provider.request({ method: "eth_accounts" })) as string[];
  const data = creationCodeOf(from);
  const hash = await provider.request({ method: "eth_sendTransaction", params: [{ from, data }] });
  const receipt = await provider.request({ method: "eth_getTransactionReceipt", params: [hash] });
  if (!isObject(receipt) || typeof receipt["contractAddress"] !== "string") {
    throw new Error("The local chain did not mine the registry's deployment.");
  }
  return getAddress(receipt["contractAddress"]);
}
