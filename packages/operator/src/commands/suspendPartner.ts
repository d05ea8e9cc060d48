import { adminClientOf, requireBizId } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import { describePartner } from "./describePartner.ts";
import type { Host, Outcome } from "./host.ts";

/** `keyroot suspend-partner`: refuses all tokens of a partner and of its users. */
export default async function suspendPartner(args: ArgsOf<"suspend-partner">, host: Host): Promise<Outcome> {
  const { bizId, service } = args;
  const admin = await adminClientOf(service, host);
  const partner = await admin.suspendPartner(requireBizId(bizId));
  return { json: partner, text: describePartner(partner) };
}
