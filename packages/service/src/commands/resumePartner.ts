import { adminClientOf, requireBizID } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import { describePartner } from "./describePartner.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";

/** `keyroot resume-partner`: ends the suspension of a partner. */
export default async function resumePartner(args: ArgsOf<"resume-partner">, host: Host): Promise<Outcome> {
  const { bizID, serviceUrl } = args;
  const admin = await adminClientOf(serviceUrl, host);
  const partner = await admin.resumePartner(requireBizID(bizID));
  return { json: partner, text: describePartner(partner) };
}
