import { ArgumentError } from "keyroot/errors";
import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";

/** `keyroot revoke-server-token`: revokes any server token. */
export default async function revokeServerToken(args: ArgsOf<"revoke-server-token">, host: Host): Promise<Outcome> {
  const { tokenID, serviceUrl } = args;
  if (tokenID === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Set the token's id: --token-id ID.");
  const admin = await adminClientOf(serviceUrl, host);
  const token = await admin.revokeServerToken(tokenID);
  return { json: token, text: `Revoked the server token ${tokenID} of ${token.biz_id}.` };
}
