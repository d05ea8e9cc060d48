/**
 * The commands of the partner service, which `keyroot` and the Hardhat plugin load if this package is installed. Each
 * has a file of its own, which imports nothing heavy until the command runs, so that `--help` stays fast.
 */
import { createPartner } from "./createPartner.ts";
import { createServerToken } from "./createServerToken.ts";
import { invite } from "./invite.ts";
import { limitUsers } from "./limitUsers.ts";
import { listAuditLog } from "./listAuditLog.ts";
import { listPartners } from "./listPartners.ts";
import { listServerTokens } from "./listServerTokens.ts";
import { makeSigningKey } from "./makeSigningKey.ts";
import { migrate } from "./migrate.ts";
import { publisher } from "./publisher.ts";
import { publishRegistered } from "./publishRegistered.ts";
import { rebuildFiles } from "./rebuildFiles.ts";
import { reconcile } from "./reconcile.ts";
import { resumePartner } from "./resumePartner.ts";
import { revokeServerToken } from "./revokeServerToken.ts";
import { serve } from "./serve.ts";
import { stack } from "./stack.ts";
import { suspendPartner } from "./suspendPartner.ts";

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
