/**
 * The commands `npx hardhat keyroot <name>`, and the folder of each one. A command's help, options and code are in one
 * file. Only `demo`, in the first row, needs this repository.
 *
 * | commands                                                              | where                          |
 * | --------------------------------------------------------------------- | ------------------------------ |
 * | demo                                                                  | tasks                          |
 * | sample-users, make-records, build-file, check-file, estimate, publish | packages/operator/src/commands |
 * | deploy, make-owner-key, status, transfer-ownership, accept-ownership  | the same                       |
 * | verify, account, light-client, bundle, explorer, audit, watch         | the same                       |
 * | make-auditor-key, sign-statement, compare-statements                  | the same                       |
 * | serve, publisher, migrate, reconcile, rebuild-files, stack            | packages/service/src/commands  |
 * | make-signing-key, create-partner, list-partners, limit-users, invite  | the same                       |
 * | suspend-partner, resume-partner, list-audit-log, publish-registered   | the same                       |
 * | create-server-token, list-server-tokens, revoke-server-token          | the same                       |
 */
import { commandTask } from "@keyroot/operator/hardhat";
import { demoCommand } from "./demoCommand.ts";
import { mochaTask } from "./mochaTask.ts";

export const tasks = [commandTask("demo", demoCommand), mochaTask];
