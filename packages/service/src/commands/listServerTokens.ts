import type { RevokedServerToken } from "../admin/index.ts";
import { adminClientOf, requireBizID } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import type { Host } from "@keyroot/operator/commands";
import { print, printError } from "@keyroot/operator/commands";

/** `keyroot list-server-tokens`: the metadata of a partner's server tokens. */
export default async function listServerTokens(args: ArgsOf<"list-server-tokens">, host: Host): Promise<undefined> {
  const { bizID, serviceUrl, json } = args;
  const admin = await adminClientOf(serviceUrl, host);
  let listed = 0;
  for await (const token of admin.listServerTokens(requireBizID(bizID))) {
    print(json ? JSON.stringify(token) : describeToken(token));
    listed++;
  }
  if (listed === 0 && !json) printError("The partner has no server token.");
}

function describeToken({ token_id, name, created, revoked, last_used }: Omit<RevokedServerToken, "biz_id">): string {
  const used = last_used === null ? "never used" : `last used in the hour of ${toText(last_used)}`;
  const state = revoked === null ? used : `revoked ${toText(revoked)}`;
  return `${token_id}  ${name ?? "(no name)"}, created ${toText(created)}, ${state}`;
}

function toText(timestamp: number): string {
  return new Date(timestamp).toISOString();
}
