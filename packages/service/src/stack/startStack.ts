import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkOptions,
  type Listening,
  removeStackFile,
  type StackFile,
  writeStackFile,
} from "@keyroot/operator/shared";
import type { KeyTypeName } from "keyroot/internal/identity";
import { Cleanup } from "../api/base/cleanup.ts";
import { RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import { deployRegistry } from "./deployRegistry.ts";
import { startFileHost } from "./fileHost.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import { STACK_PORTS } from "./stackPorts.ts";

/**
 * A running chain with a registry and a file host, and optionally a partner service and a simulated beacon endpoint.
 */
export interface Stack extends Omit<StackFile, "pid">, Pick<LocalChain, "connection"> {
  /** Whether commands in other processes use this stack. False if the stack file already announces another stack. */
  readonly announced: boolean;
  /** Closes everything, frees the ports, and removes the files and the stack file. Repeating the call has no effect. */
  close(): Promise<void>;
}

/** Options of `startStack`. */
export interface StackOptions {
  /**
   * The ports to listen on, or 0 for any free port. If a port is in use, the next free port is used. A service or
   * beacon endpoint without a port is not started. Default: `STACK_PORTS`.
   */
  ports?: { chain: number; files: number; service?: number; beacon?: number };
  /** Whether to write the project's stack file, by which commands in other processes find the stack. Default: false. */
  announce?: boolean;
  /** The URL of an explorer to which the dashboard links. Default: none. */
  explorerUrl?: string;
  /** The type of the registry's keys, for the partner service. Default: `curve41417`. */
  keyType?: KeyTypeName;
  /** Whether all user ids of the partner service are accounts. Default: unset, for one key per user. */
  accounts?: "required";
  /** Called before each part is started, with a sentence for the user. */
  onStep?: (step: string) => void;
}

/**
 * Starts a stack on this machine: a chain in memory, whose first account owns the registry, and a file host with a new
 * temporary folder. It listens only on 127.0.0.1, and prints nothing.
 *
 * If a step fails, the earlier ones are undone. The files and the stack file are removed even if the process exits
 * without `close`.
 * @throws ArgumentError `ARGUMENT_INVALID` if a port is out of range
 * @throws TransportError `PORT_UNAVAILABLE` if there is no port to listen on
 */
export async function startStack(hre: HardhatRuntimeEnvironment, options: StackOptions = {}): Promise<Stack> {
  checkOptions("The options of startStack", options, {
    ports: true,
    announce: true,
    explorerUrl: true,
    keyType: true,
    accounts: true,
    onStep: true,
  });
  const { announce = false, explorerUrl, keyType = "curve41417", accounts, onStep } = options;
  const ports: NonNullable<StackOptions["ports"]> = options.ports ?? STACK_PORTS;
  // Resources are released in reverse order if a step fails, and by `close`.
  await using starting = new Cleanup();
  const filesDir = await mkdtemp(join(tmpdir(), "keyroot-"));
  starting.defer(
    removeAtExit(() => {
      rmSync(filesDir, { recursive: true, force: true });
    }),
  );

  onStep?.("Starting the chain and the file host.");
  const chain = await startLocalChain(hre, { port: ports.chain });
  starting.defer(() => chain.close());

  // The second region's files. Commands that publish on the stack use the first folder.
  const secondFilesDir = join(filesDir, "eu-west-1");
  const fileHost = await startFileHost({ dir: filesDir, otherDirs: [secondFilesDir], port: ports.files });
  starting.defer(() => fileHost.close());

  onStep?.("Deploying the registry.");
  const contract = await deployRegistry(chain.connection.provider);
  const { rpcUrl } = chain;
  const beacon = ports.beacon === undefined ? undefined : await startBeacon(rpcUrl, ports.beacon);
  if (beacon !== undefined) starting.defer(() => beacon.close());
  if (ports.service !== undefined) onStep?.("Starting the partner service.");
  // The service is loaded on demand. A command that only deploys takes 25% less processor time without the service.
  const service =
    ports.service === undefined
      ? undefined
      : await (
          await import("./localService.ts")
        ).startLocalService({
          port: ports.service,
          chain: { rpcUrl, chainId: chain.chainId, contract, filesDir, secondFilesDir },
          explorerUrl,
          keyType,
          accounts,
        });
  if (service !== undefined) starting.defer(() => service.close());

  const place = {
    rpcUrl,
    merkleUrl: fileHost.url,
    filesDir,
    contract,
    chainId: chain.chainId,
    keyType,
    ...(beacon && { beaconUrl: beacon.url }),
    ...(service && { service: { serviceUrl: service.url, adminToken: service.adminToken } }),
  };
  const { root } = hre.config.paths;
  const stackFile = { ...place, pid: process.pid };
  const announced = announce && (await writeStackFile(root, stackFile));
  if (announced) {
    starting.defer(
      removeAtExit(() => {
        removeStackFile(root, stackFile);
      }),
    );
  }

  const running = starting.move();
  return { ...place, connection: chain.connection, announced, close: () => running[Symbol.asyncDispose]() };
}

/**
 * Starts the simulated beacon endpoint. The module is loaded on demand, because it loads the light client's
 * cryptography.
 */
async function startBeacon(rpcUrl: string, port: number): Promise<Listening> {
  const { SimulatedBeacon } = await import("@keyroot/operator/testing");
  const { maxBytes, timeoutMs } = RPC_LIMITS;
  return new SimulatedBeacon({ call: rpcCaller(rpcUrl, { maxBytes, timeoutMs }) }).listen(port);
}

/** Returns a function that calls `remove`. If the process exits before that, `remove` is called at exit. */
function removeAtExit(remove: () => void): () => void {
  process.once("exit", remove);
  return () => {
    process.off("exit", remove);
    remove();
  };
}
