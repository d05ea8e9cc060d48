/** Every command of the partner service that needs no Hardhat: its name, help, argument and options. `table.ts` adds the handlers. */
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

const serviceUrl = text("url", "URL of the partner service; KEYROOT_ADMIN_TOKEN is its admin token", {
  variable: "KEYROOT_SERVICE_URL",
});
const bizID = text("id", "Id of the partner, printed by create-partner and list-partners");

const OF_PARTNER = ["bizID", "serviceUrl"];

export const DEFINITIONS = {
  serve: {
    summary: "Run the partner service until Ctrl-C; environment variables configure it",
    options: {
      every: integer("seconds", "Seconds between two publishing rounds; 0 disables scheduled publishing", {
        min: 0,
        max: MAX_TIMER_SECONDS,
        default: 0,
      }),
      atLeast: integer("n", "Publish only when at least this many keys are due", { min: 1, default: 1 }),
      json,
    },
  },

  migrate: { summary: "Create or update the tables in the partner service's databases", options: { json } },

  reconcile: {
    summary: "After restoring a backup: add published keys that are missing from the databases",
    options: { json },
  },

  "make-signing-key": {
    summary: "Make a signing key for access tokens",
    needs: () => ["out"],
    options: { out: text("file", "File of signing keys; an existing file gets the new key at its end"), json },
  },

  "create-partner": {
    summary: "Create a partner company",
    needs: () => ["name", "serviceUrl"],
    options: { name: text("text", "Display name of the company"), serviceUrl, json },
  },

  "create-server-token": {
    summary: "Create a partner's server token and print it once",
    needs: () => OF_PARTNER,
    options: {
      bizID,
      name: text("text", "Display name of the token (optional)"),
      serviceUrl,
      json,
    },
  },

  invite: {
    summary: "Invite a person to a partner's dashboard or the operator's console, and print the link once",
    needs: ({ operator }) => ["name", ...(operator === true ? [] : ["bizID"]), "serviceUrl"],
    options: {
      bizID: text("id", "Id of the partner, printed by create-partner"),
      operator: flag("Invite to the operator's console, which manages all partners"),
      name: text("text", "Name of the person; the name of a person who lost all passkeys makes a new link"),
      role: text("role", "administrator: may change everything; reader: may only look", {
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
      search: text("text", "Part of the name, or start of the partner's id", { defaultText: "all partners" }),
      serviceUrl,
      json: flag("Print one JSON object per line for each partner"),
    },
  },

  "suspend-partner": {
    summary: "Refuse all tokens of a partner and its users until resume-partner",
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
      userLimit: integer("n", "Maximum number of users", { min: 0, max: MAX_INT32 }),
      unlimited: flag("Remove the limit"),
      serviceUrl,
      json,
    },
  },

  "list-server-tokens": {
    summary: "List a partner's server tokens, without their values",
    needs: () => OF_PARTNER,
    options: { bizID, serviceUrl, json: flag("Print one JSON object per line for each token") },
  },

  "revoke-server-token": {
    summary: "Revoke a partner's server token",
    needs: () => ["tokenID", "serviceUrl"],
    options: { tokenID: text("id", "Id of the token, printed by list-server-tokens"), serviceUrl, json },
  },

  "list-audit-log": {
    summary: "List the audit log, newest entries first",
    needs: () => ["serviceUrl"],
    options: {
      bizID: text("id", "Only changes of this partner and its users"),
      userID: text("user", "Only changes of this user: 32 characters of z-base-32, or 40 hex digits"),
      action: text("action", "Only this action, such as serverToken.revoked"),
      actorKind: text("kind", "Only changes by this kind of actor", {
        choices: ["service", "operator", "person", "partner", "user"],
      }),
      actorID: text("id", "List only changes that this server token, user or person made"),
      since: text("time", "Only entries of this time or later, such as 2027-01-31 or 2027-01-31T08:00:00Z"),
      until: text("time", "Only entries before this time"),
      serviceUrl,
      json: flag("Print one JSON object per line for each entry"),
    },
  },

  "publish-registered": {
    summary: "Publish the keys that users registered, now",
    needs: () => ["serviceUrl"],
    options: { serviceUrl, json },
  },
} as const satisfies Record<string, Definition>;

/** The name of a command: a key of `DEFINITIONS`. */
export type CommandName = keyof typeof DEFINITIONS;

/** The parsed arguments of a command. */
export type ArgsOf<Name extends CommandName> = Parsed<(typeof DEFINITIONS)[Name]>;
