import { command, flag, integer, json, MAX_INT32 } from "@keyroot/operator/definition";
import { bizID, OF_PARTNER, serviceUrl } from "./options.ts";

export const limitUsers = command(
  {
    summary: "Limit the number of users that a partner may create",
    needs: ({ unlimited }) => [...OF_PARTNER, ...(unlimited === true ? [] : ["userLimit"])],
    options: {
      bizID,
      userLimit: integer("n", "Maximum number of the partner's users", { min: 0, max: MAX_INT32 }),
      unlimited: flag("Remove the partner's user limit", { excludes: ["userLimit"] }),
      serviceUrl,
      json,
    },
  },
  async ({ bizID, userLimit, serviceUrl }, host) => {
    const { adminClientOf, partnerOutcome, requireBizID } = await import("./adminCommands.ts");
    const admin = await adminClientOf(serviceUrl, host);
    return partnerOutcome(await admin.setUserLimit(requireBizID(bizID), userLimit ?? null));
  },
);
