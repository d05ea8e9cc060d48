import { plural } from "@keyroot/operator/shared";
import { type Host, type Outcome, shellCommand } from "@keyroot/operator/commands";
import { ArgumentError } from "../errors.ts";
import type { PartnerSummary } from "@keyroot/client/operator";
import { adminClientOf, requireBizID } from "./adminClient.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { printEach } from "./lists.ts";

/** The `keyroot create-partner` command creates a partner company and prints the partner's `biz_id`. */
export async function createPartner(args: ArgsOf<"create-partner">, host: Host): Promise<Outcome> {
  const { name, serviceUrl } = args;
  if (name === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "--name is missing. Set it to the company's name.");
  const admin = await adminClientOf(serviceUrl, host);
  const { biz_id: bizID } = await admin.createPartner(name);
  const next = [
    "create-server-token",
    "--biz-id",
    bizID,
    ...(serviceUrl === undefined ? [] : ["--service-url", serviceUrl]),
  ];
  return {
    json: { bizID },
    text: `${bizID}\nTo create a token for the partner's server: ${host.program} ${shellCommand(next)}`,
  };
}

/**
 * The `keyroot list-partners` command prints all partners, or the partners that match a search. Each partner has
 * counts, such as the number of users.
 */
export async function listPartners(args: ArgsOf<"list-partners">, host: Host): Promise<undefined> {
  const { search, serviceUrl, json } = args;
  const admin = await adminClientOf(serviceUrl, host);
  return printEach(admin.listPartners({ search }), json, describePartner, "There is no such partner.");
}

/**
 * The `keyroot suspend-partner` command suspends a partner. The service then rejects all tokens of the partner and of
 * the partner's users.
 */
export async function suspendPartner(args: ArgsOf<"suspend-partner">, host: Host): Promise<Outcome> {
  const { bizID, serviceUrl } = args;
  const admin = await adminClientOf(serviceUrl, host);
  const partner = await admin.suspendPartner(requireBizID(bizID));
  return { json: partner, text: describePartner(partner) };
}

/** The `keyroot resume-partner` command ends a partner's suspension. */
export async function resumePartner(args: ArgsOf<"resume-partner">, host: Host): Promise<Outcome> {
  const { bizID, serviceUrl } = args;
  const admin = await adminClientOf(serviceUrl, host);
  const partner = await admin.resumePartner(requireBizID(bizID));
  return { json: partner, text: describePartner(partner) };
}

/** The `keyroot limit-users` command limits the number of users that a partner may create. */
export async function limitUsers(args: ArgsOf<"limit-users">, host: Host): Promise<Outcome> {
  const { bizID, userLimit, unlimited, serviceUrl } = args;
  if ((userLimit === undefined) !== unlimited)
    throw new ArgumentError("ARGUMENT_INVALID", "Set either --user-limit N or --unlimited.");
  const admin = await adminClientOf(serviceUrl, host);
  const partner = await admin.setUserLimit(requireBizID(bizID), userLimit ?? null);
  return { json: partner, text: describePartner(partner) };
}

function describePartner(partner: PartnerSummary): string {
  const { biz_id, name, suspended, user_limit, users, pending_keys, published_keys, server_tokens } = partner;
  const limit = user_limit === null ? "" : ` of at most ${user_limit}`;
  const keys = `${published_keys} published and ${pending_keys} pending keys`;
  const state = suspended === null ? "" : `, suspended since ${new Date(suspended).toISOString()}`;
  return `${biz_id}  ${name}: ${plural(users, "user")}${limit}, ${keys}, ${plural(server_tokens, "server token")}${state}`;
}
