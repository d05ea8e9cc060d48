/**
 * The definitions of the service's commands that do not need Hardhat: names, help, arguments and options. `index.ts`
 * adds the handlers.
 */
import {
  type Definition,
  flag,
  integer,
  json,
  MAX_INT32,
  MAX_TIMER_SECONDS,
  type Parsed,
  text,
} from "@keyroot/operator/definition";

const serviceUrl = text("url", "URL of the partner service. Set KEYROOT_ADMIN_TOKEN to the service's admin token", {
  variable: "KEYROOT_SERVICE_URL",
});
const bizID = text("id", "Id of the partner. The commands create-partner and list-partners print this id");

const OF_PARTNER = ["bizID", "serviceUrl"];

export const DEFINITIONS = {
  serve: {
    summary: "Run the partner service until Ctrl-C. Configure the service with environment variables",
    options: {
      every: integer(
        "seconds",
        "Number of seconds between the starts of two publishing rounds. 0 disables scheduled publishing",
        {
          min: 0,
          max: MAX_TIMER_SECONDS,
          default: 0,
        },
      ),
      atLeast: integer(
        "n",
        "Minimum number of keys in a publishing round. If the hold period of fewer keys is over, the round publishes nothing",
        { min: 1, default: 1 },
      ),
      json,
    },
  },

  migrate: { summary: "Create or update the tables in the service's databases", options: { json } },

  reconcile: {
    summary: "Add published keys that are missing in the databases, for example after restoring a backup",
    options: { json },
  },

  "rebuild-files": {
    summary: "Check the Merkle-tree files of published keys. Rebuild missing and damaged files from the databases",
    options: { json },
  },

  "make-signing-key": {
    summary: "Create a signing key for access tokens",
    needs: () => ["out"],
    options: {
      out: text(
        "file",
        "File of signing keys. If the file exists, the command adds the new key at the end of the file",
      ),
      json,
    },
  },

  "create-partner": {
    summary: "Create a partner company",
    needs: () => ["name", "serviceUrl"],
    options: { name: text("text", "Display name of the company"), serviceUrl, json },
  },

  "create-server-token": {
    summary: "Create a server token for a partner, and print the token once",
    needs: () => OF_PARTNER,
    options: {
      bizID,
      name: text("text", "Display name of the token", { defaultText: "none" }),
      serviceUrl,
      json,
    },
  },

  invite: {
    summary: "Print a link that invites a person to a partner's dashboard or the operator's console",
    needs: ({ operator }) => ["name", ...(operator === true ? [] : ["bizID"]), "serviceUrl"],
    options: {
      bizID,
      operator: flag("Invite the person to the operator's console, where your own staff manage all partners"),
      name: text("text", "Name of the person. If the person lost all passkeys, use the same name again"),
      role: text("role", "Rights of the person. A reader cannot change anything", {
        choices: ["administrator", "reader"],
        default: "administrator",
      }),
      serviceUrl,
      json,
    },
  },

  "list-partners": {
    summary: "List partners with their users, keys and server tokens",
    needs: () => ["serviceUrl"],
    options: {
      search: text("text", "List only partners with this text in the name, or at the beginning of the id", {
        defaultText: "all partners",
      }),
      serviceUrl,
      json: flag("Print each partner as one JSON object on its own line"),
    },
  },

  "suspend-partner": {
    summary:
      "Suspend a partner. The service rejects all tokens of the partner and its users until the partner is resumed",
    needs: () => OF_PARTNER,
    options: { bizID, serviceUrl, json },
  },

  "resume-partner": {
    summary: "End the suspension of a partner",
    needs: () => OF_PARTNER,
    options: { bizID, serviceUrl, json },
  },

  "limit-users": {
    summary: "Limit the number of users that a partner may create",
    needs: ({ unlimited }) => [...OF_PARTNER, ...(unlimited === true ? [] : ["userLimit"])],
    options: {
      bizID,
      userLimit: integer("n", "Maximum number of the partner's users", { min: 0, max: MAX_INT32 }),
      unlimited: flag("Remove the partner's user limit"),
      serviceUrl,
      json,
    },
  },

  "list-server-tokens": {
    summary: "List a partner's server tokens, without their values",
    needs: () => OF_PARTNER,
    options: { bizID, serviceUrl, json: flag("Print each token as one JSON object on its own line") },
  },

  "revoke-server-token": {
    summary: "Revoke a partner's server token",
    needs: () => ["tokenID", "serviceUrl"],
    options: {
      tokenID: text("id", "Id of the server token. The command list-server-tokens prints this id"),
      serviceUrl,
      json,
    },
  },

  "list-audit-log": {
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

  "publish-registered": {
    summary: "Publish the registered keys whose hold period is over",
    needs: () => ["serviceUrl"],
    options: { serviceUrl, json },
  },
} as const satisfies Record<string, Definition>;

export type CommandName = keyof typeof DEFINITIONS;

export type ArgsOf<Name extends CommandName> = Parsed<(typeof DEFINITIONS)[Name]>;
