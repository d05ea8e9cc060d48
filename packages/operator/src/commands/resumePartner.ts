import { adminClientOf, requireBizId } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import { describePartner } from "./describePartner.ts";
import type { Host, Outcome } from "./host.ts";

/** `keyroot resume-partner`: ends the suspension of a partner. */
export default async function resumePartner(args: ArgsOf<"resume-partner">, host: Host): Promise<Outcome> {
  const { bizId, service } = args;
  const admin = await adminClientOf(service, host);
  const partner = await admin.resumePartner(requireBizId(bizId));
  return { json: partner, text: describePartner(partner) };
}
