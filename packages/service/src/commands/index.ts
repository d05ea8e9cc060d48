/**
 * The commands of the partner service. `keyroot` and the Hardhat plugin load them if this package is installed. Nothing
 * heavy is imported until a command runs, so that `--help` stays fast.
 */
import { invite } from "./invite.ts";
import { listAuditLog } from "./listAuditLog.ts";
import { makeSigningKey } from "./makeSigningKey.ts";
import { migrate } from "./migrate.ts";
import { createPartner, limitUsers, listPartners, resumePartner, suspendPartner } from "./partners.ts";
import { publisher } from "./publisher.ts";
import { publishRegistered } from "./publishRegistered.ts";
import { rebuildFiles } from "./rebuildFiles.ts";
import { reconcile } from "./reconcile.ts";
import { serve } from "./serve.ts";
import { createServerToken, listServerTokens, revokeServerToken } from "./serverTokens.ts";
import { stack } from "./stack.ts";

export const COMMANDS = {
  serve,
  publisher,
  migrate,
  reconcile,
  "rebuild-files": rebuildFiles,
  "make-signing-key": makeSigningKey,
  "create-partner": createPartner,
  "create-server-token": createServerToken,
  invite,
  "list-partners": listPartners,
  "suspend-partner": suspendPartner,
  "resume-partner": resumePartner,
  "limit-users": limitUsers,
  "list-server-tokens": listServerTokens,
  "revoke-server-token": revokeServerToken,
  "list-audit-log": listAuditLog,
  "publish-registered": publishRegistered,
};

/** The commands that need Hardhat's simulated chain. */
export const HARDHAT_COMMANDS = { stack };
