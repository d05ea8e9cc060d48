import { emptyTask } from "hardhat/config";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { HardhatPlugin } from "hardhat/types/plugins";
import { COMMANDS } from "../commands/table.ts";
import type { Stack, StackOptions } from "../stack/stack.ts";
import { correctRefusals } from "./refusals.ts";
import { stackCommand } from "./stackCommand.ts";
import { commandTask } from "./task.ts";

export type { Definition, Parsed } from "../commands/definition.ts";
export { defineCommand } from "../commands/runCommand.ts";
export type { Stack, StackOptions } from "../stack/stack.ts";
export { port, stackCommand } from "./stackCommand.ts";
export { commandTask, type HardhatHost } from "./task.ts";

correctRefusals(process.argv.slice(2));

/**
 * The Hardhat plugin: adds `npx hardhat keyroot <command>`, with the project's networks and keystore, and a local stack.
 * @example
 * import keyroot from "@keyroot/operator/hardhat";
 * export default defineConfig({ plugins: [keyroot] });
 */
const plugin: HardhatPlugin = {
  id: "keyroot",
  npmPackage: "@keyroot/operator",
  tasks: [
    emptyTask("keyroot", "Publish users' public keys, verify and audit them").build(),
    ...Object.entries(COMMANDS).map(([name, command]) => commandTask(name, command)),
    commandTask("stack", stackCommand),
  ],
};

export default plugin;

/**
 * Starts a local stack for a project's tests: a chain in memory with the registry, owned by its first account, and a host of
 * Merkle-tree files; with `ports.service`, also the partner service. Call `close` when done.
 * @throws ArgumentError ARGUMENT_INVALID; TransportError PORT_UNAVAILABLE
 * @example
 * const stack = await startStack(hre);
 * after(() => stack.close());
 */
export async function startStack(hre: HardhatRuntimeEnvironment, options?: StackOptions): Promise<Stack> {
  const { startStack } = await import("../stack/stack.ts");
  return startStack(hre, options);
}
