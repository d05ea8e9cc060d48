import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { NetworkHooks } from "hardhat/types/hooks";
import type { JsonRpcServer, NetworkConnection } from "hardhat/types/network";
import { AsyncLocalStorage } from "node:async_hooks";
import { connect, createServer, type Server } from "node:net";
import { pipeline } from "node:stream";
import { listen } from "./ports.ts";

/** Hardhat's name for the simulated network of its own `node` command. */
const NETWORK = "node";

/** A simulated chain with JSON-RPC over HTTP and WebSocket; it lives in memory and ends with the process. */
export interface LocalChain {
  /** `http://<address>:<port>`, without a slash at the end. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Hardhat's own way in, without a socket: what is deployed through it leaves nothing on disk. */
  readonly connection: NetworkConnection;
  /** Ends every open connection at once, frees the port and forgets the chain. May be called again. */
  close(): Promise<void>;
}

export interface LocalChainOptions {
  /** The address to listen on. */
  host?: string;
  /** The port to listen on; a taken one gives way to the next free one, 0 means any. */
  port: number;
}

/**
 * Starts a simulated chain with JSON-RPC. Contracts compiled later are unknown to its error messages: build first.
 *
 * @throws ArgumentError `ARGUMENT_INVALID`: the port is out of range.
 * @throws TransportError `PORT_UNAVAILABLE`: there is no port to listen on.
 */
export async function startLocalChain(
  hre: HardhatRuntimeEnvironment,
  { host = "127.0.0.1", port }: LocalChainOptions,
): Promise<LocalChain> {
  // Disposed of in reverse order: at the first step that fails, or by `close`.
  await using starting = new AsyncDisposableStack();
  const { server, connection } = await createChain(hre);
  starting.defer(() => connection.close());
  const chainId = Number(await connection.provider.request({ method: "eth_chainId" }));

  // Hardhat's server crashes the process when its port is taken, and its close() waits for every WebSocket. So it gets a
  // port that nobody else wants, and the one that people see is a relay.
  const inner = await server.listen();
  starting.defer(() => server.close());
  const outer = await listen(relayTo(inner), { host, port });
  starting.defer(() => outer.close());

  const running = starting.move();
  return { rpcUrl: outer.url, chainId, connection, close: () => running.disposeAsync() };
}

/** Creates the chain and catches the connection that Hardhat's server keeps to itself. */
async function createChain(
  hre: HardhatRuntimeEnvironment,
): Promise<{ server: JsonRpcServer; connection: NetworkConnection }> {
  // Hooks see every connection made in the meantime, by others, too: the one made inside of this call is ours.
  const ours = new AsyncLocalStorage<true>();
  let caught: NetworkConnection<string> | undefined;
  const hooks: Pick<NetworkHooks, "newConnection"> = {
    async newConnection(context, next) {
      const connection = await next(context);
      if (ours.getStore()) caught = connection;
      return connection;
    },
  };
  hre.hooks.registerHandlers("network", hooks);
  try {
    const server = await ours.run(true, () => hre.network.createServer({ network: NETWORK }, "127.0.0.1", 0));
    return { server, connection: caught as NetworkConnection };
  } finally {
    hre.hooks.unregisterHandlers("network", hooks);
  }
}

/** Passes bytes on, both ways. */
function relayTo({ address, port }: { address: string; port: number }): Server {
  return createServer({ noDelay: true }, (outer) => {
    const inner = connect({ host: address, port, noDelay: true });
    pipeline(outer, inner, outer, () => {
      // However it ended, both sockets are closed now.
    });
  });
}
