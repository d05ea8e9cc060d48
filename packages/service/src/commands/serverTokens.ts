import type { Host, Outcome } from "@keyroot/operator/commands";
import { ArgumentError } from "../errors.ts";
import type { RevokedServerToken } from "@keyroot/client/operator";
import { adminClientOf, requireBizID } from "./adminClient.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { printEach } from "./lists.ts";

/** The `keyroot create-server-token` command creates a partner's server token and prints the token. */
export async function createServerToken(args: ArgsOf<"create-server-token">, host: Host): Promise<Outcome> {
  const { bizID, name, serviceUrl } = args;
  const admin = await adminClientOf(serviceUrl, host);
  const { token: serverToken } = await admin.createServerToken(requireBizID(bizID), { name });
  return {
    json: { bizID, serverToken },
    text: `${serverToken}\nStore the token as a secret of the partner's server. It never expires, and is not shown again.`,
  };
}

/** The `keyroot list-server-tokens` command prints the metadata of a partner's server tokens. */
export async function listServerTokens(args: ArgsOf<"list-server-tokens">, host: Host): Promise<undefined> {
  const { bizID, serviceUrl, json } = args;
  const admin = await adminClientOf(serviceUrl, host);
  const tokens = admin.listServerTokens(requireBizID(bizID));
  return printEach(tokens, json, describeToken, "The partner has no server token.");
}

function describeToken({ token_id, name, created, revoked, last_used }: Omit<RevokedServerToken, "biz_id">): string {
  const used = last_used === null ? "never used" : `last used in the hour of ${toText(last_used)}`;
  const state = revoked === null ? used : `revoked ${toText(revoked)}`;
  return `${token_id}  ${name ?? "(no name)"}, created ${toText(created)}, ${state}`;
}

function toText(timestamp: number): string {
  return new Date(timestamp).toISOString();
}

/** The `keyroot revoke-server-token` command revokes a server token of any partner. */
export async function revokeServerToken(args: ArgsOf<"revoke-server-token">, host: Host): Promise<Outcome> {
  const { tokenID, serviceUrl } = args;
  if (tokenID === undefined)
    throw new ArgumentError("ARGUMENT_INVALID", "--token-id is missing. Set it to the token's id.");
  const admin = await adminClientOf(serviceUrl, host);
  const token = await admin.revokeServerToken(tokenID);
  return { json: token, text: `Revoked the server token ${tokenID} of ${token.biz_id}.` };
}
