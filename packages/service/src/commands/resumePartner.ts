import { command, json } from "@keyroot/operator/definition";
import { bizID, OF_PARTNER, serviceUrl } from "./options.ts";

export const resumePartner = command(
  {
    summary: "End the suspension of a partner",
    needs: () => OF_PARTNER,
    options: { bizID, serviceUrl, json },
  },
  async ({ bizID, serviceUrl }, host) => {
    const { adminClientOf, partnerOutcome, requireBizID } = await import("./adminCommands.ts");
    const admin = await adminClientOf(serviceUrl, host);
    return partnerOutcome(await admin.resumePartner(requireBizID(bizID)));
  },
);
