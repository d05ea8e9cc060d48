/** The commands with their handlers, for the program `keyroot` and the Hardhat plugin. */
import { type ArgsOf, type CommandName, DEFINITIONS } from "./commandDefinitions.ts";
import type { Handler } from "./host.ts";
import type { Command } from "./defineCommand.ts";

/**
 * The handler of each command, in a separate file. A command loads its handler when the command runs. `--help` loads no
 * handler.
 */
const HANDLERS: { readonly [Name in CommandName]: () => Promise<{ default: Handler<ArgsOf<Name>> }> } = {
  "sample-users": () => import("./sampleUsers.ts"),
  "build-file": () => import("./buildFile.ts"),
  "check-file": () => import("./checkFile.ts"),
  publish: () => import("./publish.ts"),
  estimate: () => import("./estimate.ts"),
  deploy: () => import("./deploy.ts"),
  "make-owner-key": () => import("./makeOwnerKey.ts"),
  status: () => import("./status.ts"),
  "transfer-ownership": async () => ({ default: (await import("./ownership.ts")).transferOwnership }),
  "accept-ownership": async () => ({ default: (await import("./ownership.ts")).acceptOwnership }),
  verify: () => import("./verify.ts"),
  "light-client": () => import("./lightClient.ts"),
  explorer: () => import("./explorer.ts"),
  bundle: () => import("./bundle.ts"),
  audit: () => import("./audit.ts"),
  "make-auditor-key": () => import("./makeAuditorKey.ts"),
  watch: () => import("./watch.ts"),
};

/** The commands of `@keyroot/service`. `HARDHAT_COMMANDS` are the commands that need Hardhat. */
export interface ServiceCommands {
  readonly COMMANDS: Readonly<Record<string, Command>>;
  readonly HARDHAT_COMMANDS: Readonly<Record<string, Command<never>>>;
}

/** The remedy for an unknown command if `@keyroot/service` is not installed. */
export const SERVICE_HINT =
  "The partner service's commands are in another package. Run 'npm install @keyroot/service'.";

/** Loads the commands of the optional package `@keyroot/service`. Returns undefined if the package is not installed. */
export async function loadServiceCommands(): Promise<ServiceCommands | undefined> {
  const specifier = "@keyroot/service/commands";
  try {
    import.meta.resolve(specifier);
  } catch {
    return undefined;
  }
  return (await import(specifier)) as ServiceCommands;
}

/**
 * Returns all commands that do not need Hardhat. The keys are the commands' names. Each command loads its handler when
 * the command runs.
 */
export function commandsWith(service: ServiceCommands | undefined): Readonly<Record<string, Command>> {
  const own = (Object.keys(DEFINITIONS) as CommandName[]).map((name) => [
    name,
    { ...DEFINITIONS[name], load: HANDLERS[name] },
  ]);
  return { ...(Object.fromEntries(own) as Record<string, Command>), ...service?.COMMANDS };
}
