/**
 * The commands of the partner service. If this package is installed, `keyroot` and the Hardhat plugin load these
 * commands.
 */
import { stackCommand } from "../stack/stackCommand.ts";
import { type ArgsOf, type CommandName, DEFINITIONS } from "./commandDefinitions.ts";
import type { Command, Handler } from "@keyroot/operator/commands";

/** Functions that load each command's handler when the command runs. `--help` loads no handler. */
const HANDLERS: { readonly [Name in CommandName]: () => Promise<{ default: Handler<ArgsOf<Name>> }> } = {
  serve: () => import("./serve.ts"),
  migrate: () => import("./migrate.ts"),
  reconcile: () => import("./reconcile.ts"),
  "rebuild-files": () => import("./rebuildFiles.ts"),
  "make-signing-key": () => import("./makeSigningKey.ts"),
  "create-partner": async () => ({ default: (await import("./partners.ts")).createPartner }),
  "create-server-token": async () => ({ default: (await import("./serverTokens.ts")).createServerToken }),
  invite: () => import("./invite.ts"),
  "list-partners": async () => ({ default: (await import("./partners.ts")).listPartners }),
  "suspend-partner": async () => ({ default: (await import("./partners.ts")).suspendPartner }),
  "resume-partner": async () => ({ default: (await import("./partners.ts")).resumePartner }),
  "limit-users": async () => ({ default: (await import("./partners.ts")).limitUsers }),
  "list-server-tokens": async () => ({ default: (await import("./serverTokens.ts")).listServerTokens }),
  "revoke-server-token": async () => ({ default: (await import("./serverTokens.ts")).revokeServerToken }),
  "list-audit-log": () => import("./listAuditLog.ts"),
  "publish-registered": () => import("./publishRegistered.ts"),
};

export const COMMANDS: Readonly<Record<string, Command>> = Object.fromEntries(
  (Object.keys(DEFINITIONS) as CommandName[]).map((name) => [name, { ...DEFINITIONS[name], load: HANDLERS[name] }]),
);

/** The commands that need Hardhat's simulated chain. */
export const HARDHAT_COMMANDS = { stack: stackCommand };
