import { Interface } from "ethers/abi";
import { getAddress } from "ethers/address";
import { ArgumentError, argumentInvalid } from "../errors.ts";
import type { Registry } from "./chain/registry.ts";
import { refuseTestAccount } from "./signers/testAccounts.ts";
import type { Call } from "./transactions/sendCall.ts";

/**
 * The functions of OpenZeppelin's `Ownable2Step`. The new owner must accept the ownership, so a mistyped address cannot
 * become the owner.
 */
const OWNABLE = new Interface([
  "function transferOwnership(address newOwner)",
  "function acceptOwnership()",
  "function pendingOwner() view returns (address)",
]);

/** A call of the registry by its owner, or by the account that becomes the owner. */
export type OwnershipCall = Required<Call>;

/**
 * Returns the account that may accept the ownership: 0x and 40 hex digits with checksum. If the ownership is not
 * offered to any account, it returns undefined.
 */
export async function fetchPendingOwner({ chain, contract }: Registry): Promise<string | undefined> {
  const call = { to: contract, data: OWNABLE.encodeFunctionData("pendingOwner") };
  const pending = await chain.request("eth_call", [call, "latest"], (answer) =>
    getAddress(String(OWNABLE.decodeFunctionResult("pendingOwner", String(answer))[0])),
  );
  return /^0x0{40}$/.test(pending) ? undefined : pending;
}

/**
 * Returns the call with which the owner offers the ownership to another account.
 * @throws ArgumentError ARGUMENT_INVALID, TEST_KEY_REFUSED
 */
export function transferOwnershipCall(registry: Registry, newOwner: string, chainId: number): OwnershipCall {
  const { contract, owner } = registry;
  const to = getAddress(newOwner);
  refuseTestAccount(to, chainId);
  if (to === owner) throw argumentInvalid(`${owner} is already the owner. Choose another account.`);
  if (to === getAddress(contract))
    throw argumentInvalid(`${to} is the registry, which cannot accept the ownership. Choose another account.`);
  return { from: owner, to: contract, data: OWNABLE.encodeFunctionData("transferOwnership", [to]) };
}

/**
 * Returns the call with which the new owner accepts the ownership.
 * @throws ArgumentError NOT_OWNER if the ownership is not offered
 */
export async function acceptOwnershipCall(registry: Registry): Promise<OwnershipCall> {
  const { contract, owner } = registry;
  const from = await fetchPendingOwner(registry);
  if (from !== undefined) return { from, to: contract, data: OWNABLE.encodeFunctionData("acceptOwnership") };
  const message = `The ownership of ${contract} is not offered to any account. Its owner ${owner} must run 'transfer-ownership' first.`;
  throw new ArgumentError("NOT_OWNER", message, { actual: owner });
}
