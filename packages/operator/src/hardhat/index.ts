import { emptyTask } from "hardhat/config";
import type { HardhatPlugin } from "hardhat/types/plugins";
import { commandsWith, loadServiceCommands, SERVICE_HINT } from "../commands/commandTable.ts";
import type { Command } from "../commands/defineCommand.ts";
import { correctRefusals } from "./refusals.ts";
import { commandTask, type HardhatHost } from "./task.ts";

export { command, type Definition, type Parsed } from "../commands/defineCommand.ts";
export type { KeyrootConnection } from "./networkHooks.ts";
export { commandTask, type HardhatHost } from "./task.ts";

const service = await loadServiceCommands();
correctRefusals(process.argv.slice(2), service === undefined ? SERVICE_HINT : undefined);
/** Every command, as a Hardhat task. */
const commands = { ...commandsWith(service), ...service?.HARDHAT_COMMANDS } as Record<string, Command<HardhatHost>>;

/**
 * Hardhat plugin with the task `npx hardhat keyroot <command>`, which uses the project's networks and keystore. If
 * `@keyroot/service` is installed, the task also has the commands of the partner service and of the local stack.
 *
 * The plugin also adds `connection.keyroot.simulateBeacon()`, with which you can test apps that use `lightClient`.
 * @example import keyroot from "@keyroot/operator/hardhat"; export default defineConfig({ plugins: [keyroot] });
 */
const plugin: HardhatPlugin = {
  id: "keyroot",
  npmPackage: "@keyroot/operator",
  tasks: [
    emptyTask("keyroot", "Publish users' public keys, verify and audit them").build(),
    ...Object.entries(commands).map(([name, command]) => commandTask(name, command)),
  ],
  hookHandlers: { network: () => import("./networkHooks.ts") },
};

export default plugin;
