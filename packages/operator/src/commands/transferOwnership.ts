import { ArgumentError } from "keyroot/errors";
import { fetchPendingOwner, transferOwnershipCall } from "../publisher/ownership.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";
import { ownershipTarget, sendOwnership } from "./sendOwnership.ts";
import { checkAddress } from "./target.ts";

/** `keyroot transfer-ownership`: the owner offers the registry to another account. */
export default async function transferOwnership(args: ArgsOf<"transfer-ownership">, host: Host): Promise<Outcome> {
  if (args.newOwner === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "Set the account that shall own the registry: --new-owner ADDRESS.");
  const newOwner = checkAddress("--new-owner", args.newOwner);
  const found = await ownershipTarget(args, host);
  const { registry, target } = found;
  const call = transferOwnershipCall(registry, newOwner, target.chainId);
  const pending = await fetchPendingOwner(registry);
  if (pending?.toLowerCase() === newOwner.toLowerCase()) {
    const text = `The registry is offered to ${pending} already. It becomes the owner with 'accept-ownership'.`;
    return { json: { owner: registry.owner, pendingOwner: pending }, text };
  }
  const done = `Offered the registry to ${newOwner}. It becomes the owner with 'accept-ownership'; until then, ${registry.owner} is.`;
  return sendOwnership(call, found, args, done);
}
