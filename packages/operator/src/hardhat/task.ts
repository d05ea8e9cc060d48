import { task } from "hardhat/config";
import { ArgumentType } from "hardhat/types/arguments";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { NewTaskDefinition } from "hardhat/types/tasks";
import { ArgumentError } from "keyroot/internal/errors";
import { type Command, describeOption } from "../commands/defineCommand.ts";
import type { Host } from "../commands/host.ts";
import { type RawArguments, rawName } from "../commands/parseArguments.ts";
import { messageOf } from "../commands/output.ts";
import { runCommand } from "../commands/runCommand.ts";
import { commandStarted } from "./refusals.ts";

/** Hardhat as the host of a command. Commands that need Hardhat also receive Hardhat's runtime environment. */
export interface HardhatHost extends Host {
  readonly hre: HardhatRuntimeEnvironment;
}

/** Makes a command available as the task `npx hardhat keyroot <name>`. */
export function commandTask(name: string, command: Command<HardhatHost>): NewTaskDefinition {
  let builder = task(["keyroot", name], command.summary);
  const { argument } = command;
  if (argument !== undefined) {
    const { name, description, kind } = argument;
    if (kind === "many") builder = builder.addVariadicArgument({ name, description });
    else if (kind === "required") builder = builder.addPositionalArgument({ name, description });
    else builder = builder.addPositionalArgument({ name, description, ...OPTIONAL });
  }
  for (const [key, option] of Object.entries(command.options)) {
    const name = rawName(key);
    const description = describeOption(option);
    if (option.kind === "flag") builder = builder.addFlag({ name, description });
    else builder = builder.addOption({ name, description, ...OPTIONAL });
  }
  const action = async (raw: RawArguments, hre: HardhatRuntimeEnvironment) => {
    commandStarted();
    const run = (args: never, host: HardhatHost) => command.run(args, host).catch(asArgumentError);
    await runCommand({ ...command, run }, raw, hardhatHost(hre));
  };
  return builder.setAction(() => Promise.resolve({ default: action })).build();
}

/**
 * The type of every option for Hardhat. With this type, Hardhat passes on the text unchanged. Keyroot's own parser then
 * reads the text, as in the program `keyroot`.
 */
const OPTIONAL = { type: ArgumentType.STRING_WITHOUT_DEFAULT, defaultValue: undefined } as const;

function hardhatHost(hre: HardhatRuntimeEnvironment): HardhatHost {
  // The type declares that the network is always set. Without `--network`, the network is undefined.
  const network = hre.globalOptions.network as string | undefined;
  const config = network === undefined ? undefined : hre.config.networks[network];
  return {
    hre,
    program: "npx hardhat keyroot",
    invocation: ["npx", "hardhat", ...process.argv.slice(2)],
    root: hre.config.paths.root,
    // With `--network`, use the network's endpoint instead of KEYROOT_RPC_URL.
    environment: network === undefined ? process.env : { ...process.env, KEYROOT_RPC_URL: undefined },
    showStackTraces: hre.globalOptions.showStackTraces,
    hasNetwork: network !== undefined,
    // `connectNetwork` reports a missing URL.
    networkUrl: async () => (config?.type === "http" ? await config.url.getUrl().catch(() => undefined) : undefined),
    async connectNetwork() {
      return network === undefined ? undefined : (await hre.network.create()).provider;
    },
  };
}

/**
 * Converts Hardhat's own errors, which are about its configuration, such as an unknown network, to errors of Keyroot.
 */
function asArgumentError(error: unknown): never {
  if (error instanceof Error && error.name === "HardhatError") {
    throw new ArgumentError("ARGUMENT_INVALID", messageOf(error), { cause: error });
  }
  throw error;
}
