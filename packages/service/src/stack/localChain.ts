import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { NetworkHooks } from "hardhat/types/hooks";
import type { JsonRpcServer, NetworkConnection } from "hardhat/types/network";
import { AsyncLocalStorage } from "node:async_hooks";
import { connect, createServer, type Server } from "node:net";
import { pipeline } from "node:stream";
import { Cleanup } from "../api/base/cleanup.ts";
import { checkOptions, listen } from "@keyroot/operator/shared";

/** The simulated network of Hardhat's `node` command. */
const NETWORK = "node";
/**
 * Blocks of the same second get the same time. Otherwise, each block would be dated at least one second after the block
 * before it. After many quick transactions, the newest block would then be in the future, and verifiers would reject it.
 */
const NETWORK_SETTINGS = { allowBlocksWithSameTimestamp: true };

/** A simulated chain in memory, with JSON-RPC over HTTP and WebSocket, which stops when the process ends. */
export interface LocalChain {
  /** The URL of the JSON-RPC endpoint, `http://<address>:<port>`, without a trailing slash. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Hardhat's direct connection to the chain, without a socket. */
  readonly connection: NetworkConnection;
  /** Closes all open connections, frees the port and discards the chain. Repeating the call has no effect. */
  close(): Promise<void>;
}

export interface LocalChainOptions {
  host?: string;
  /** The port to listen on, or 0 for any free port. If it is in use, the next free port is used. */
  port: number;
}

/**
 * Starts a simulated chain with JSON-RPC. Compile the contracts first, so that its error messages can name them.
 * @throws ArgumentError `ARGUMENT_INVALID` if the port is out of range
 * @throws TransportError `PORT_UNAVAILABLE` if there is no port to listen on
 */
export async function startLocalChain(hre: HardhatRuntimeEnvironment, options: LocalChainOptions): Promise<LocalChain> {
  const { host = "127.0.0.1", port } = checkOptions("The options of startLocalChain", options, {
    host: true,
    port: true,
  });
  // Resources are released in reverse order if a step fails, and by `close`.
  await using starting = new Cleanup();
  const { server, connection } = await createChain(hre);
  starting.defer(() => connection.close());
  const chainId = Number(await connection.provider.request({ method: "eth_chainId" }));

  // Hardhat's server listens on a random port behind a relay, which listens on the requested port. Without the relay, a
  // port that is in use would crash the process, and `close` would wait for every WebSocket.
  const inner = await server.listen();
  starting.defer(() => server.close());
  const outer = await listen(relayTo(inner), { host, port });
  starting.defer(() => outer.close());

  const running = starting.move();
  return { rpcUrl: outer.url, chainId, connection, close: () => running[Symbol.asyncDispose]() };
}

/** Creates the chain's server and captures its connection, which Hardhat's server does not expose. */
async function createChain(
  hre: HardhatRuntimeEnvironment,
): Promise<{ server: JsonRpcServer; connection: NetworkConnection }> {
  // Hardhat calls the hook for every connection of the process. `ours` identifies the connection of this call.
  const ours = new AsyncLocalStorage<true>();
  let captured: NetworkConnection<string> | undefined;
  const hooks: Pick<NetworkHooks, "newConnection"> = {
    async newConnection(context, next) {
      const connection = await next(context);
      if (ours.getStore()) captured = connection;
      return connection;
    },
  };
  hre.hooks.registerHandlers("network", hooks);
  try {
    const server = await ours.run(true, () =>
      hre.network.createServer({ network: NETWORK, override: NETWORK_SETTINGS }, "127.0.0.1", 0),
    );
    return { server, connection: captured as NetworkConnection };
  } finally {
    hre.hooks.unregisterHandlers("network", hooks);
  }
}

/** Creates a server that forwards bytes in both directions. */
function relayTo({ address, port }: { address: string; port: number }): Server {
  return createServer({ noDelay: true }, (outer) => {
    const inner = connect({ host: address, port, noDelay: true });
    pipeline(outer, inner, outer, () => {
      // Both sockets are closed now. An error needs no handling.
    });
  });
}
