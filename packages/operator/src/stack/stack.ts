import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import publicKeyRegistry from "../../../../ignition/modules/PublicKeyRegistry.ts";
import { buildContracts } from "./build.ts";
import { startFileHost } from "./fileHost.ts";
import { startLocalChain, type LocalChain } from "./localChain.ts";
import { startLocalService } from "./localService.ts";
import { STACK_PORTS } from "./ports.ts";
import { removeStackFile, writeStackFile, type StackNote } from "./stackFile.ts";

/** A running chain with the registry on it, a running host of Merkle-tree files, and a partner service if it was asked for. */
export interface Stack extends Omit<StackNote, "pid">, Pick<LocalChain, "connection"> {
  /** Whether other processes find this stack by the project's note; false also when another stack is noted already. */
  readonly announced: boolean;
  /** Closes everything, frees the ports, removes the files and the note. May be called again. */
  close(): Promise<void>;
}

export interface StackOptions {
  /**
   * The ports to listen on, `STACK_PORTS` by default; a taken one gives way to the next free one, 0 means any. Without
   * one for it there is no service.
   */
  ports?: { chain: number; files: number; service?: number };
  /** Whether to note the stack in the project, so that other processes find it. */
  announce?: boolean;
}

/**
 * Starts a whole stack on this machine: builds the contracts if need be, starts a chain in memory and a host of files
 * from a fresh temporary folder, and deploys the registry, owned by the chain's first account. Listens on 127.0.0.1
 * only and prints nothing on stdout. What was started is closed again when a later step fails.
 *
 * @throws ArgumentError `ARGUMENT_INVALID`: a port is out of range.
 * @throws TransportError `PORT_UNAVAILABLE`: there is no port to listen on.
 */
export async function startStack(
  hre: HardhatRuntimeEnvironment,
  { ports = STACK_PORTS, announce = false }: StackOptions = {},
): Promise<Stack> {
  await buildContracts(hre);

  // Disposed of in reverse order: at the first step that fails, or by `close`.
  await using starting = new AsyncDisposableStack();
  const merkleDir = await mkdtemp(join(tmpdir(), "keyroot-"));
  starting.defer(() => rm(merkleDir, { recursive: true, force: true }));

  const chain = await startLocalChain(hre, { port: ports.chain });
  starting.defer(() => chain.close());

  const fileHost = await startFileHost({ dir: merkleDir, port: ports.files });
  starting.defer(() => fileHost.close());

  const { publicKeyRegistry: registry } = await chain.connection.ignition.deploy(publicKeyRegistry);

  const contract = await registry.getAddress();
  const { rpcUrl } = chain;
  const service =
    ports.service === undefined
      ? undefined
      : await startLocalService({ port: ports.service, chain: { rpcUrl, contract, merkleDir } });
  if (service !== undefined) starting.defer(() => service.close());

  const place = {
    rpcUrl,
    merkleUrl: fileHost.url,
    merkleDir,
    contract,
    chainId: chain.chainId,
    ...(service && { service: { baseUrl: service.url, adminToken: service.adminToken } }),
  };
  const note = { ...place, pid: process.pid };
  const announced = announce && (await writeStackFile(hre.config.paths.root, note));
  if (announced) starting.defer(() => removeStackFile(hre.config.paths.root, note));

  const running = starting.move();
  return { ...place, connection: chain.connection, announced, close: () => running.disposeAsync() };
}
