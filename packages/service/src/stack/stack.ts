import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkOptions } from "@keyroot/operator/shared";
import { Cleanup } from "@keyroot/operator/shared";
import { DEFAULT_LIMITS, rpcCaller } from "keyroot/transport";
import { deployRegistry } from "./deployRegistry.ts";
import { startFileHost } from "./fileHost.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import { type Listening, STACK_PORTS } from "@keyroot/operator/shared";
import { removeStackFile, type StackFile, writeStackFile } from "@keyroot/operator/shared";

/** A running chain with the registry, a host of Merkle-tree files, and a partner service and a simulated beacon endpoint if requested. */
export interface Stack extends Omit<StackFile, "pid">, Pick<LocalChain, "connection"> {
  /** true: commands in other processes use this stack. false: not requested, or another stack is announced. */
  readonly announced: boolean;
  /** Closes everything, frees the ports, removes the files and the stack file. Repeating the call has no effect. */
  close(): Promise<void>;
}

/** Options of `startStack`. */
export interface StackOptions {
  /**
   * The ports to listen on, by default `STACK_PORTS`. A port in use is replaced by the next free one; 0 means any. Without
   * `service` or `beacon`, the stack has no partner service or no simulated beacon endpoint.
   */
  ports?: { chain: number; files: number; service?: number; beacon?: number };
  /** Whether to write the project's stack file, so that commands in other processes find the stack. */
  announce?: boolean;
  /** URL of an explorer, to which the dashboard links. Default none. */
  explorerUrl?: string;
}

/**
 * Starts a stack on this machine: a chain in memory, a host of files from a new temporary folder, and the registry, owned
 * by the chain's first account. It listens on 127.0.0.1 only and prints nothing. If a step fails, earlier steps are undone.
 * If the process exits without `close`, files and stack file are removed nevertheless.
 *
 * @throws ArgumentError `ARGUMENT_INVALID`: a port is out of range.
 * @throws TransportError `PORT_UNAVAILABLE`: there is no port to listen on.
 */
export async function startStack(hre: HardhatRuntimeEnvironment, options: StackOptions = {}): Promise<Stack> {
  checkOptions("The options of startStack", options, { ports: true, announce: true, explorerUrl: true });
  const { announce = false, explorerUrl } = options;
  const ports: NonNullable<StackOptions["ports"]> = options.ports ?? STACK_PORTS;
  // Disposed of in reverse order: at the first step that fails, or by `close`.
  await using starting = new Cleanup();
  const filesDir = await mkdtemp(join(tmpdir(), "keyroot-"));
  starting.defer(
    removeAtExit(() => {
      rmSync(filesDir, { recursive: true, force: true });
    }),
  );

  const chain = await startLocalChain(hre, { port: ports.chain });
  starting.defer(() => chain.close());

  // The files of the second region. Commands that publish on the stack use the first folder.
  const secondFilesDir = join(filesDir, "eu-west-1");
  const fileHost = await startFileHost({ dir: filesDir, otherDirs: [secondFilesDir], port: ports.files });
  starting.defer(() => fileHost.close());

  const contract = await deployRegistry(chain.connection.provider);
  const { rpcUrl } = chain;
  const beacon = ports.beacon === undefined ? undefined : await startBeacon(rpcUrl, ports.beacon);
  if (beacon !== undefined) starting.defer(() => beacon.close());
  // Loaded on demand: a command that only deploys takes a quarter less processor time without it.
  const service =
    ports.service === undefined
      ? undefined
      : await (
          await import("./localService.ts")
        ).startLocalService({
          port: ports.service,
          chain: { rpcUrl, chainId: chain.chainId, contract, filesDir, secondFilesDir },
          explorerUrl,
        });
  if (service !== undefined) starting.defer(() => service.close());

  const place = {
    rpcUrl,
    merkleUrl: fileHost.url,
    filesDir,
    contract,
    chainId: chain.chainId,
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

/** Loaded on demand, because it brings the light client's cryptography. */
async function startBeacon(rpcUrl: string, port: number): Promise<Listening> {
  const { SimulatedBeacon } = await import("@keyroot/operator/testing");
  const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
  return new SimulatedBeacon({ call: rpcCaller(rpcUrl, { maxBytes, timeoutMs }) }).listen(port);
}

/** Returns a function that calls `remove`. If the process exits first, calls `remove` then. */
function removeAtExit(remove: () => void): () => void {
  process.once("exit", remove);
  return () => {
    process.off("exit", remove);
    remove();
  };
}
