/** The table of commands: definitions with their handlers. The program `keyroot` and the Hardhat plugin are made of it. */
import { type ArgsOf, type CommandName, DEFINITIONS } from "./definitions.ts";
import type { Handler } from "./host.ts";
import type { Command } from "./runCommand.ts";

/** Each handler in its own file, loaded when its command runs: `--help` loads none. */
const HANDLERS: { readonly [Name in CommandName]: () => Promise<{ default: Handler<ArgsOf<Name>> }> } = {
  "sample-users": () => import("./sampleUsers.ts"),
  "build-file": () => import("./buildFile.ts"),
  "check-file": () => import("./checkFile.ts"),
  publish: () => import("./publish.ts"),
  estimate: () => import("./estimate.ts"),
  status: () => import("./status.ts"),
  "transfer-ownership": () => import("./transferOwnership.ts"),
  "accept-ownership": () => import("./acceptOwnership.ts"),
  verify: () => import("./verify.ts"),
  explorer: () => import("./explorer.ts"),
  bundle: () => import("./bundle.ts"),
  audit: () => import("./audit.ts"),
  watch: () => import("./watch.ts"),
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

/** All commands by their names. Each loads its handler when it runs. */
export const COMMANDS: Readonly<Record<string, Command>> = Object.fromEntries(
  (Object.keys(DEFINITIONS) as CommandName[]).map((name) => [name, { ...DEFINITIONS[name], load: HANDLERS[name] }]),
);
