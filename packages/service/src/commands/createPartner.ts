import { command, json, text } from "@keyroot/operator/definition";
import { serviceUrl } from "./options.ts";

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
