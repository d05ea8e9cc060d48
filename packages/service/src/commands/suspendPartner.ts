import { adminClientOf, requireBizID } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import { describePartner } from "./describePartner.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";

/** `keyroot suspend-partner`: refuses all tokens of a partner and of its users. */
export default async function suspendPartner(args: ArgsOf<"suspend-partner">, host: Host): Promise<Outcome> {
  const { bizID, serviceUrl } = args;
  const admin = await adminClientOf(serviceUrl, host);
  const partner = await admin.suspendPartner(requireBizID(bizID));
  return { json: partner, text: describePartner(partner) };
}
