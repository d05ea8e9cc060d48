import type { PartnerSummary } from "../admin/index.ts";
import { plural } from "@keyroot/operator/shared";

/** A partner with its numbers, in one line. */
export function describePartner(partner: PartnerSummary): string {
  const { biz_id, name, suspended, user_limit, users, pending_keys, published_keys, server_tokens } = partner;
  const limit = user_limit === null ? "" : ` of at most ${user_limit}`;
  const keys = `${published_keys} published and ${pending_keys} pending keys`;
  const state = suspended === null ? "" : `, suspended since ${new Date(suspended).toISOString()}`;
  return `${biz_id}  ${name}: ${plural(users, "user")}${limit}, ${keys}, ${plural(server_tokens, "server token")}${state}`;
}
