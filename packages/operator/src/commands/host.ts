import type { Eip1193Provider } from "keyroot/internal/transport";

/** The environment of a command: the program `keyroot`, or Hardhat with the plugin. */
export interface Host {
  /** The words before a command: `npx keyroot` or `npx hardhat keyroot`. */
  readonly program: string;
  /** All words of this command line, including the program. */
  readonly invocation: readonly string[];
  /** The folder that contains `.keyroot`, with the local stack's addresses, unfinished plans and audit states. */
  readonly root: string;
  /** Prints stack traces of errors that Keyroot does not define. */
  readonly showStackTraces: boolean;
  /** The environment variables, which replace missing options. */
  readonly environment: NodeJS.ProcessEnv;
  /** True if `--network` names a Hardhat network. */
  readonly hasNetwork: boolean;
  /**
   * The URL of the network in `--network`. Undefined if the option is missing, if the network is simulated, or if no
   * URL is configured for the network.
   */
  networkUrl(): Promise<string | undefined>;
  /** Connects to the network in `--network`. Returns undefined without that option. */
  connectNetwork(): Promise<Eip1193Provider | undefined>;
}

/** The result of a command: an object for scripts, and text for people. */
export interface Outcome {
  json: object;
  text: string;
}
