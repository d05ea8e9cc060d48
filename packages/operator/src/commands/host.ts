import type { Eip1193Provider } from "keyroot/transport";

/** The environment of a command: the program `keyroot`, or Hardhat with the plugin. */
export interface Host {
  /** Words that start another command: `npx keyroot`, `npx hardhat keyroot`. */
  readonly program: string;
  /** The words with which this command was started, program included. */
  readonly invocation: readonly string[];
  /** The folder that has `.keyroot`, with the local stack's address, unfinished plans and audit states. */
  readonly root: string;
  /** Whether to print stack traces of errors that are not Keyroot's. */
  readonly showStackTraces: boolean;
  /** Variables of options that are not given. */
  readonly environment: NodeJS.ProcessEnv;
  /** True if `--network` names a network of Hardhat. */
  readonly hasNetwork: boolean;
  /** Connects to the network that `--network` names; undefined without that option. */
  connectNetwork(): Promise<Eip1193Provider | undefined>;
}

/** A command's result: one object for scripts, and the same as text for people. */
export interface Outcome {
  json: object;
  text: string;
}

/** Does the work of a command. It returns undefined if it has printed everything itself. */
export type Handler<Args> = (args: Args, host: Host) => Promise<Outcome | undefined>;
