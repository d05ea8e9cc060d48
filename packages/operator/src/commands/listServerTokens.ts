import type { RevokedServerToken } from "keyroot/admin";
import { adminClientOf, requireBizId } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host } from "./host.ts";
import { print, printError } from "./output.ts";

/** `keyroot list-server-tokens`: the metadata of a partner's server tokens. */
export default async function listServerTokens(args: ArgsOf<"list-server-tokens">, host: Host): Promise<undefined> {
  const { bizId, service, json } = args;
  const admin = await adminClientOf(service, host);
  let listed = 0;
  for await (const token of admin.listServerTokens(requireBizId(bizId))) {
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
