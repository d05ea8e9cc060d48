import { command, flag } from "@keyroot/operator/definition";
import type { RevokedServerToken } from "@keyroot/client/operator";
import { bizID, OF_PARTNER, serviceUrl } from "./options.ts";

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
