import { commandsWith, loadServiceCommands } from "@keyroot/operator/commands";
import type { Definition } from "@keyroot/operator/definition";
import { demoCommand } from "../../tasks/demoCommand.ts";

/** The definitions of all commands, by name. */
export async function allCommands(): Promise<Readonly<Record<string, Definition>>> {
  const service = await loadServiceCommands();
  return { ...commandsWith(service), ...service?.HARDHAT_COMMANDS, demo: demoCommand };
}
