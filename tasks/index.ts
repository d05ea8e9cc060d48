/** The commands of this repository, beside those of the plugin: `npx hardhat keyroot deploy` and `… demo`. */
import { commandTask } from "@keyroot/operator/hardhat";
import { demoCommand } from "./demoCommand.ts";
import { deployCommand } from "./deployCommand.ts";

export const tasks = [commandTask("deploy", deployCommand), commandTask("demo", demoCommand)];
