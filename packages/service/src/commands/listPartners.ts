import { command, flag, text } from "@keyroot/operator/definition";
import { serviceUrl } from "./options.ts";

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
