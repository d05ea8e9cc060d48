import { command, flag, text } from "@keyroot/operator/definition";
import { serviceUrl } from "./options.ts";

/** The `keyroot list-audit-log` command prints the entries of the audit log as text or JSON lines. */
export const listAuditLog = command(
  {
    summary: "List the audit log, newest entries first",
    needs: () => ["serviceUrl"],
    options: {
      bizID: text("id", "Print only changes to this partner and its users"),
      userID: text("user", "Print only changes to this user: 32 characters of zBase32, or 40 hex digits"),
      action: text("action", "Print only changes with this action, such as serverToken.revoked"),
      actorKind: text("kind", "Print only changes by this kind of actor", {
        choices: ["service", "operator", "person", "partner", "user"],
      }),
      actorID: text("id", "Print only changes by the user, person or server token with this id"),
      since: text("time", "Print only entries at this time or later, such as 2027-01-31 or 2027-01-31T08:00:00Z"),
      until: text("time", "Print only entries before this time, in the format of --since"),
      serviceUrl,
      json: flag("Print each entry as one JSON object on its own line"),
    },
  },
  async ({ since, until, serviceUrl, json, ...filter }, host) => {
    const { adminClientOf, describeEntry, printEach, toTime } = await import("./adminCommands.ts");
    const times = { since: toTime("--since", since), until: toTime("--until", until) };
    const admin = await adminClientOf(serviceUrl, host);
    const entries = admin.listAuditLog({ ...filter, ...times, pageSize: 1000 });
    return printEach(entries, json, describeEntry, "There is no such entry.");
  },
);
