/**
 * The commands `npx hardhat keyroot <name>`, and where each is. The operator's commands have help and options
 * in one file and handlers in others. Only the first row needs this repository.
 *
 * | commands                                                             | help and options                                     | handlers                       |
 * | -------------------------------------------------------------------- | ---------------------------------------------------- | ------------------------------ |
 * | demo                                                                 | tasks/demoCommand.ts                                 | tasks/startOrDemo.ts           |
 * | sample-users, build-file, check-file, estimate, publish              | packages/operator/src/commands/commandDefinitions.ts | packages/operator/src/commands |
 * | deploy, make-owner-key, status, transfer-ownership, accept-ownership | the same                                             | the same                       |
 * | verify, light-client, bundle, explorer, audit, watch                 | the same                                             | the same                       |
 * | make-auditor-key                                                     | the same                                             | the same                       |
 * | serve, publisher, migrate, reconcile, rebuild-files, stack           | packages/service/src/commands, one file each         | the same file                  |
 * | make-signing-key, create-partner, list-partners, limit-users, invite | the same                                             | the same                       |
 * | suspend-partner, resume-partner, list-audit-log, publish-registered  | the same                                             | the same                       |
 * | create-server-token, list-server-tokens, revoke-server-token         | the same                                             | the same                       |
 */
import { commandTask } from "@keyroot/operator/hardhat";
import { demoCommand } from "./demoCommand.ts";
import { mochaTask } from "./mochaTask.ts";

export const tasks = [commandTask("demo", demoCommand), mochaTask];
