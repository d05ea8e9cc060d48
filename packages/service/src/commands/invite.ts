import { command, flag, json, text } from "@keyroot/operator/definition";
import { bizID, serviceUrl } from "./options.ts";

/** The `keyroot invite` command creates a link, which works once, for a person of a partner or the operator. */
export const invite = command(
  {
    summary: "Print a link that invites a person to a partner's dashboard or the operator's console",
    needs: ({ operator }) => ["name", ...(operator === true ? [] : ["bizID"]), "serviceUrl"],
    options: {
      bizID,
      operator: flag("Invite the person to the operator's console, where your own staff manage all partners", {
        excludes: ["bizID"],
      }),
      name: text("text", "Name of the person. If the person lost all passkeys, use the same name again"),
      role: text("role", "Rights of the person. A reader cannot change anything", {
        choices: ["administrator", "reader"],
        default: "administrator",
      }),
      serviceUrl,
      json,
    },
  },
  async ({ bizID, operator, name, role, serviceUrl }, host) => {
    const { adminClientOf, required } = await import("./adminCommands.ts");
    const { style } = await import("@keyroot/operator/commands");
    const person = required(name, "--name", "the person's name");
    const admin = await adminClientOf(serviceUrl, host);
    const { url, expires } = await (bizID === undefined
      ? admin.inviteOperator(person, { role })
      : admin.invite(bizID, person, { role }));
    return {
      json: { ...(bizID === undefined ? { operator } : { bizID }), name, role, url, expires },
      text: `${style("link", url)}\nGive this link to ${person} only. It works once, within 15 minutes.`,
    };
  },
);
