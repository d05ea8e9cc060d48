import { acceptOwnershipCall } from "../publisher/ownership.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";
import { ownershipTarget, sendOwnership } from "./sendOwnership.ts";

/** `keyroot accept-ownership`: the account to which the registry is offered becomes its owner. */
export default async function acceptOwnership(args: ArgsOf<"accept-ownership">, host: Host): Promise<Outcome> {
  const found = await ownershipTarget(args, host);
  const call = await acceptOwnershipCall(found.registry);
  return sendOwnership(call, found, args, `${call.from} is the owner of the registry now.`);
}
