/**
 * The commands `npx hardhat keyroot <name>`, and where each is. A command has its help and options in one file, and its
 * handler in another. Only the first row needs this repository.
 *
 * | commands                                                             | help and options                                     | handlers                       |
 * | -------------------------------------------------------------------- | ---------------------------------------------------- | ------------------------------ |
 * | demo                                                                 | tasks/demoCommand.ts                                 | tasks/startOrDemo.ts           |
 * | sample-users, build-file, check-file, estimate, publish              | packages/operator/src/commands/commandDefinitions.ts | packages/operator/src/commands |
 * | deploy, make-owner-key, status, transfer-ownership, accept-ownership | the same                                             | the same                       |
 * | verify, light-client, bundle, explorer, audit, watch                 | the same                                             | the same                       |
 * | make-auditor-key                                                     | the same                                             | the same                       |
 * | serve, migrate, reconcile, rebuild-files, publish-registered         | packages/service/src/commands/commandDefinitions.ts  | packages/service/src/commands  |
 * | make-signing-key, create-partner, list-partners, limit-users, invite | the same                                             | the same                       |
 * | suspend-partner, resume-partner, list-audit-log                      | the same                                             | the same                       |
 * | create-server-token, list-server-tokens, revoke-server-token         | the same                                             | the same                       |
 * | stack                                                                | packages/service/src/stack/stackCommand.ts           | packages/service/src/stack     |
 */
import { commandTask } from "@keyroot/operator/hardhat";
import { demoCommand } from "./demoCommand.ts";
import { mochaTask } from "./mochaTask.ts";

export const tasks = [commandTask("demo", demoCommand), mochaTask];
