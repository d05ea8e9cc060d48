import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";
import { ArgumentError } from "../api/base/errors.ts";

/**
 * The `keyroot invite` command creates a dashboard link for a person of a partner or the operator. The link works once.
 */
export default async function invite(args: ArgsOf<"invite">, host: Host): Promise<Outcome> {
  const { bizID, operator, name, role, serviceUrl } = args;
  if (operator === (bizID !== undefined))
    throw new ArgumentError(
      "ARGUMENT_INVALID",
      "Set either --biz-id to the partner's id, or --operator for the operator's own staff.",
    );
  if (name === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "--name is missing. Set it to the person's name.");
  const admin = await adminClientOf(serviceUrl, host);
  const invitation = await (bizID === undefined
    ? admin.inviteOperator(name, { role })
    : admin.invite(bizID, name, { role }));
  const { url, expires } = invitation;
  return {
    json: { ...(bizID === undefined ? { operator } : { bizID }), name, role, url, expires },
    text: `${url}\nGive this link to ${name} only. It works once, within 15 minutes.`,
  };
}
