/** The commands about partners' server tokens. */
import { command, flag, json, text } from "@keyroot/operator/definition";
import type { RevokedServerToken } from "@keyroot/client/operator";
import { bizID, OF_PARTNER, serviceUrl } from "./options.ts";

export const createServerToken = command(
  {
    summary: "Create a server token for a partner, and print it once",
    needs: () => OF_PARTNER,
    options: { bizID, name: text("text", "Display name of the token", { defaultText: "none" }), serviceUrl, json },
  },
  async ({ bizID, name, serviceUrl }, host) => {
    const { adminClientOf, requireBizID } = await import("./adminCommands.ts");
    const admin = await adminClientOf(serviceUrl, host);
    const { token: serverToken, token_id: tokenID } = await admin.createServerToken(requireBizID(bizID), { name });
    return {
      json: { bizID, serverToken, tokenID },
      text: `${serverToken}\nStore the token as a secret of the partner's server. It never expires, and is not shown again. Its id in lists is ${tokenID}.`,
    };
  },
);

export const listServerTokens = command(
  {
    summary: "List a partner's server tokens, without their values",
    needs: () => OF_PARTNER,
    options: { bizID, serviceUrl, json: flag("Print each token as one JSON object on its own line") },
  },
  async ({ bizID, serviceUrl, json }, host) => {
    const { adminClientOf, printEach, requireBizID } = await import("./adminCommands.ts");
    const admin = await adminClientOf(serviceUrl, host);
    const tokens = admin.listServerTokens(requireBizID(bizID));
    return printEach(tokens, json, describe, "The partner has no server token.");
  },
);

function describe({ token_id, name, created, revoked, last_used }: Omit<RevokedServerToken, "biz_id">): string {
  const used = last_used === null ? "never used" : `last used in the hour of ${toText(last_used)}`;
  const state = revoked === null ? used : `revoked ${toText(revoked)}`;
  return `${token_id}  ${name ?? "(no name)"}, created ${toText(created)}, ${state}`;
}

function toText(timestamp: number): string {
  return new Date(timestamp).toISOString();
}

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
