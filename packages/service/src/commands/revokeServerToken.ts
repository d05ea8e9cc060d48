import { command, json, text } from "@keyroot/operator/definition";
import { serviceUrl } from "./options.ts";

/** The `keyroot revoke-server-token` command revokes a server token of any partner. */
export const revokeServerToken = command(
  {
    summary: "Revoke a partner's server token",
    needs: () => ["tokenID", "serviceUrl"],
    options: {
      tokenID: text("id", "Id of the server token, as list-server-tokens prints it"),
      serviceUrl,
      json,
    },
  },
  async ({ tokenID, serviceUrl }, host) => {
    const { adminClientOf, required } = await import("./adminCommands.ts");
    const id = required(tokenID, "--token-id", "the token's id");
    const token = await (await adminClientOf(serviceUrl, host)).revokeServerToken(id);
    return { json: token, text: `Revoked the server token ${id} of ${token.biz_id}.` };
  },
);
