/** The commands about partner companies. */
import { command, flag, integer, json, MAX_INT32, text } from "@keyroot/operator/definition";
import type { AdminClient, PartnerSummary } from "@keyroot/client/operator";
import { bizID, OF_PARTNER, serviceUrl } from "./options.ts";

/** The `keyroot create-partner` command prints the `biz_id` of a new partner company. */
export const createPartner = command(
  {
    summary: "Create a partner company",
    needs: () => ["name", "serviceUrl"],
    options: { name: text("text", "Display name of the company"), serviceUrl, json },
  },
  async ({ name, serviceUrl }, host) => {
    const { adminClientOf, required } = await import("./adminCommands.ts");
    const { shellCommand } = await import("@keyroot/operator/commands");
    const company = required(name, "--name", "the company's name");
    const admin = await adminClientOf(serviceUrl, host);
    const { biz_id: bizID } = await admin.createPartner(company);
    const next = [
      ...["create-server-token", "--biz-id", bizID],
      ...(serviceUrl === undefined ? [] : ["--service-url", serviceUrl]),
    ];
    return {
      json: { bizID },
      text: `${bizID}\nTo create a token for the partner's server: ${host.program} ${shellCommand(next)}`,
    };
  },
);

/** The `keyroot list-partners` command prints partners with counts, such as the number of users. */
export const listPartners = command(
  {
    summary: "List partners with their users, keys and server tokens",
    needs: () => ["serviceUrl"],
    options: {
      search: text("text", "List only partners whose name contains this text, or whose id begins with it", {
        defaultText: "all partners",
      }),
      serviceUrl,
      json: flag("Print each partner as one JSON object on its own line"),
    },
  },
  async ({ search, serviceUrl, json }, host) => {
    const { adminClientOf, describePartner, printEach } = await import("./adminCommands.ts");
    const admin = await adminClientOf(serviceUrl, host);
    return printEach(admin.listPartners({ search }), json, describePartner, "There is no such partner.");
  },
);

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

export const suspendPartner = changePartner(
  "Suspend a partner. The service rejects all tokens of the partner and its users until the partner is resumed",
  (admin, bizID) => admin.suspendPartner(bizID),
);

export const resumePartner = changePartner("End the suspension of a partner", (admin, bizID) =>
  admin.resumePartner(bizID),
);

/** A command that changes one partner, and prints it. */
function changePartner(summary: string, change: (admin: AdminClient, bizID: string) => Promise<PartnerSummary>) {
  return command(
    { summary, needs: () => OF_PARTNER, options: { bizID, serviceUrl, json } },
    async ({ bizID, serviceUrl }, host) => {
      const { adminClientOf, partnerOutcome, requireBizID } = await import("./adminCommands.ts");
      return partnerOutcome(await change(await adminClientOf(serviceUrl, host), requireBizID(bizID)));
    },
  );
}
