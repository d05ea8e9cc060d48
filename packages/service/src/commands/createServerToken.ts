import { command, json, text } from "@keyroot/operator/definition";
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
