/** The commands of the partner service, which the program `keyroot` and the Hardhat plugin load if this package is installed. */
import { stackCommand } from "../stack/stackCommand.ts";
import { type ArgsOf, type CommandName, DEFINITIONS } from "./help.ts";
import type { Command, Handler } from "@keyroot/operator/commands";

/** Each handler is loaded when its command runs. `--help` loads none. */
const HANDLERS: { readonly [Name in CommandName]: () => Promise<{ default: Handler<ArgsOf<Name>> }> } = {
  serve: () => import("./serve.ts"),
  migrate: () => import("./migrate.ts"),
  reconcile: () => import("./reconcile.ts"),
  "make-signing-key": () => import("./makeSigningKey.ts"),
  "create-partner": () => import("./createPartner.ts"),
  "create-server-token": () => import("./createServerToken.ts"),
  invite: () => import("./invite.ts"),
  "list-partners": () => import("./listPartners.ts"),
  "suspend-partner": () => import("./suspendPartner.ts"),
  "resume-partner": () => import("./resumePartner.ts"),
  "limit-users": () => import("./limitUsers.ts"),
  "list-server-tokens": () => import("./listServerTokens.ts"),
  "revoke-server-token": () => import("./revokeServerToken.ts"),
  "list-audit-log": () => import("./listAuditLog.ts"),
  "publish-registered": () => import("./publishRegistered.ts"),
};

export const COMMANDS: Readonly<Record<string, Command>> = Object.fromEntries(
  (Object.keys(DEFINITIONS) as CommandName[]).map((name) => [name, { ...DEFINITIONS[name], load: HANDLERS[name] }]),
);

/** The commands that need Hardhat's simulated chain. */
export const HARDHAT_COMMANDS = { stack: stackCommand };
