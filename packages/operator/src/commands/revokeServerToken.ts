import { ArgumentError } from "keyroot/errors";
import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";

/** `keyroot revoke-server-token`: revokes any server token. */
export default async function revokeServerToken(args: ArgsOf<"revoke-server-token">, host: Host): Promise<Outcome> {
  const { tokenId, service } = args;
  if (tokenId === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Set the token's id: --token-id ID.");
  const admin = await adminClientOf(service, host);
  const token = await admin.revokeServerToken(tokenId);
  return { json: token, text: `Revoked the server token ${tokenId} of ${token.biz_id}.` };
}
