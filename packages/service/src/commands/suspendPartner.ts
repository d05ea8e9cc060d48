import { command, json } from "@keyroot/operator/definition";
import { bizID, OF_PARTNER, serviceUrl } from "./options.ts";

export const suspendPartner = command(
  {
    summary:
      "Suspend a partner. The service rejects all tokens of the partner and its users until the partner is resumed",
    needs: () => OF_PARTNER,
    options: { bizID, serviceUrl, json },
  },
  async ({ bizID, serviceUrl }, host) => {
    const { adminClientOf, partnerOutcome, requireBizID } = await import("./adminCommands.ts");
    const admin = await adminClientOf(serviceUrl, host);
    return partnerOutcome(await admin.suspendPartner(requireBizID(bizID)));
  },
);
