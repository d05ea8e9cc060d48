import { ArgumentError } from "keyroot/errors";
import { adminClientOf, requireBizID } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import { describePartner } from "./describePartner.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";

/** `keyroot limit-users`: limits the number of a partner's users. */
export default async function limitUsers(args: ArgsOf<"limit-users">, host: Host): Promise<Outcome> {
  const { bizID, userLimit, unlimited, serviceUrl } = args;
  if ((userLimit === undefined) !== unlimited)
    throw new ArgumentError("ARGUMENT_INVALID", "Set either --user-limit N or --unlimited.");
  const admin = await adminClientOf(serviceUrl, host);
  const partner = await admin.setUserLimit(requireBizID(bizID), userLimit ?? null);
  return { json: partner, text: describePartner(partner) };
}
