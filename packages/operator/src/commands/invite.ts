import { ArgumentError } from "keyroot/errors";
import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";

/**
 * `keyroot invite`: a link with which a person of a partner, or of the operator, signs in to the dashboard once and adds a
 * passkey.
 */
export default async function invite(args: ArgsOf<"invite">, host: Host): Promise<Outcome> {
  const { bizId, operator, name, role, service } = args;
  if (operator === (bizId !== undefined))
    throw new ArgumentError("ARGUMENT_INVALID", "Set the partner's id, --biz-id ID, or --operator for your own staff.");
  if (name === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Set the name of the person: --name NAME.");
  const admin = await adminClientOf(service, host);
  const invitation = await (bizId === undefined
    ? admin.inviteOperator(name, { role })
    : admin.invite(bizId, name, { role }));
  const { url, expires } = invitation;
  return {
    json: { ...(bizId === undefined ? { operator } : { bizId }), name, role, url, expires },
    text: `${url}\nGive this link to ${name} only. It works once, within 15 minutes. A passkey replaces it.`,
  };
}
