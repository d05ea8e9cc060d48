import { ArgumentError } from "keyroot/errors";
import { adminClientOf, requireBizId } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import { describePartner } from "./describePartner.ts";
import type { Host, Outcome } from "./host.ts";

/** `keyroot limit-users`: limits the number of a partner's users. */
export default async function limitUsers(args: ArgsOf<"limit-users">, host: Host): Promise<Outcome> {
  const { bizId, max, unlimited, service } = args;
  if ((max === undefined) !== unlimited)
    throw new ArgumentError("ARGUMENT_INVALID", "Set either --max N or --unlimited.");
  const admin = await adminClientOf(service, host);
  const partner = await admin.setUserLimit(requireBizId(bizId), max ?? null);
  return { json: partner, text: describePartner(partner) };
}
